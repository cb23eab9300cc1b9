import { z } from 'zod'
import { Command } from '../../api/command.ts'
import { Markup } from '../../api/buttons.ts'
import { USERNAME } from '../../api/chat.ts'
import { FaultInput } from '../faults/table.ts'
import { LimitsInput } from '../limits.ts'
import { BOT_SETTINGS } from '../control/bots.ts'
import { ROOM_SETTINGS } from '../control/chats.ts'
import { personNames, REFERENCES, type ReferenceKind } from '../control/fields.ts'
import { PHONE_KEYS } from '../phone/keys.ts'
import { RIGHTS } from '../state.ts'
import { ScenarioStep } from '../scenario/step.ts'
import { actionShapes, inputWithNames } from './actions.ts'

const UNITS_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

/** A duration as text, such as `10s`. */
export const Duration = z
  .string()
  .regex(DURATION, 'expected a time like 500ms, 10s, 1.5m, 2h or 3d')
  .meta({ id: 'Duration', description: 'a length of time: 500ms, 10s, 1.5m, 2h, 3d' })

/** @param duration one that `Duration` accepts. @returns whole milliseconds */
export function parseDurationMs(duration: string): number {
  const [, count, unit] = DURATION.exec(duration) ?? []
  return Math.round(Number(count) * (UNITS_MS[unit ?? ''] ?? 0))
}

/** The shape of a seed file: a world, and its schedule. */

const newHandle = () =>
  z.string().regex(USERNAME, 'expected a handle: 3 to 32 of A-Z, a-z, 0-9 and _')
const Handle = newHandle()
const handleOf = (kind: ReferenceKind) => newHandle().register(REFERENCES, { kind })
const BotHandle = handleOf('bot')
const ChatName = z.string().regex(/^[\w-]{1,64}$/, 'expected a name of letters, digits, _ and -')
const PublishedCertificate = z
  .strictObject({ publicKey: z.string(), fingerprint: z.string() })
  .describe('a certificate made elsewhere, published as it is')

/** The number of people that one entry makes. */
export const Count = z.int().min(1).max(100_000)
const Person = z.strictObject({
  ...personNames,
  count: Count.optional().describe(
    'so many people: NAME_1, NAME_2 and so on; NAME among members is all of them',
  ),
  key: z
    .union([z.enum(['none', 'phone', ...PHONE_KEYS]), PublishedCertificate])
    .default('phone')
    .describe('none; phone: as phones usually make; or another kind of key'),
  blocks: z.array(BotHandle).default([]).describe('bots that this person blocked'),
  gone: z.boolean().default(false).describe('closed the account before it begins'),
})

const Bot = z.strictObject({
  ...BOT_SETTINGS,
  paused: z.boolean().default(false),
  key: PublishedCertificate.optional(),
  tokenSecret: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, 'expected 43 of A-Z, a-z, 0-9, _ and -')
    .optional()
    .describe('what follows the dot of its token, so that it is the same each time'),
  commands: z
    .record(z.string().register(REFERENCES, { kind: 'scope' }), z.array(Command))
    .default({})
    .describe('by scope; of one chat: chat:NAME'),
})

const Message = z.strictObject({
  from: Handle,
  text: z.string().min(1),
  length: z.int().optional().describe('repeats the text up to so many UTF-16 code units'),
  times: z.int().min(1).default(1).describe('writes it so many times'),
  ago: Duration.default('0s').describe('how long before the beginning'),
  replyTo: z
    .int()
    .min(1)
    .optional()
    .describe('which of the messages above it quotes, counted from 1'),
  markup: Markup.optional().describe('buttons, below a bot’s message'),
})
const history = z.array(Message).default([]).describe('oldest first')

const Membership = z.strictObject({
  status: z.enum(['owner', 'admin', 'member', 'restricted']),
  rights: z
    .array(z.enum(Object.keys(RIGHTS) as [keyof typeof RIGHTS]))
    .optional()
    .describe('of an administrator; all when absent'),
  restrictedFor: Duration.optional(),
  title: z.string().optional(),
})

const Private = z.strictObject({
  kind: z.literal('private'),
  person: handleOf('person'),
  bot: BotHandle,
  history,
})
const { historyVisible: _mode, ...roomSettings } = ROOM_SETTINGS
const Room = z.strictObject({
  kind: z.enum(['group', 'channel']),
  mode: z
    .enum(['open', 'protected'])
    .default('protected')
    .describe('open: with open history, so readable'),
  username: Handle.optional(),
  ...roomSettings,
  members: z.record(handleOf('account'), z.union([Membership.shape.status, Membership])),
  history,
})

const Step = z
  .strictObject({ at: Duration.describe('how long after the beginning'), ...actionShapes() })
  .refine((one) => Object.keys(one).length === 2, 'expected `at` and exactly one action')
  .meta({ id: 'Step', minProperties: 2, maxProperties: 2 })

export const Seed = z.strictObject({
  $schema: z.string().optional(),
  clock: z
    .strictObject({
      at: z.iso.datetime({ offset: true }).optional(),
      mode: z.enum(['running', 'still']).default('running'),
    })
    .optional()
    .describe('what time it is at the beginning; the real time when absent'),
  limits: LimitsInput.optional().describe('that differ from those of the specification, by name'),
  people: z.record(Handle, Person).default({}).describe('by handle'),
  bots: z.record(Handle, Bot).default({}).describe('by handle'),
  chats: z
    .record(ChatName, z.discriminatedUnion('kind', [Private, Room]))
    .default({})
    .describe('by a name for this file alone'),
  schedule: z.array(Step).default([]).describe('what happens after that'),
  steps: z
    .array(ScenarioStep)
    .default([])
    .describe('a scenario, which `postern sandbox play` plays'),
  faults: z.array(inputWithNames(FaultInput)).default([]).describe('set from the beginning'),
})

/** A seed as a file has it, and as `readSeed` gives it. */
export type SeedInput = z.input<typeof Seed>
export type Seed = z.output<typeof Seed>

/** @returns JSON Schema (draft 2020-12) as text; config/sandbox-seed.schema.json is a copy */
export function seedSchema(): string {
  const schema = z.toJSONSchema(Seed, { io: 'input', target: 'draft-2020-12' })
  return JSON.stringify({ title: 'A world for `postern sandbox --seed`', ...schema }, null, 2)
}
