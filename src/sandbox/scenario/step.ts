import { z } from 'zod'
import { REFERENCES, type ReferenceKind } from '../control/fields.ts'
import { OPERATIONS } from '../control/table.ts'
import { PhoneVerdict } from '../phone/seen.ts'
import { ACTIONS, actionShapes } from '../seed/actions.ts'

const nameOf = (kind: ReferenceKind) => z.string().min(1).register(REFERENCES, { kind })
const inChat = { userId: nameOf('person'), chatId: nameOf('chat') }
const Labelled = z
  .string()
  .meta({ description: 'the `as` of a step above: the message that it wrote or saw' })
  .register(REFERENCES, { kind: 'step' })

/** What a phone has to show of a message. */
const Expectation = z.strictObject({
  ...inChat,
  fromId: nameOf('account'),
  text: z.string().optional(),
  replyTo: Labelled.optional(),
  verdict: PhoneVerdict.optional(),
  buttons: z.array(z.array(z.string())).optional().meta({ description: 'their texts, row by row' }),
})
const Press = z.strictObject({
  ...inChat,
  data: z.string().meta({ description: 'the `callbackData` of the button' }),
  messageId: Labelled.optional(),
  answer: z.string().optional().meta({ description: 'the text that the bot answers with' }),
})
const { press: _ours, fault, ...actions } = actionShapes(ACTIONS, Labelled)

/** A step of a scenario: an action of people, or what a phone has to show. */
export const ScenarioStep = z
  .strictObject({
    as: z.string().min(1).optional().meta({ description: 'a name for the message of this step' }),
    expect: Expectation.optional().meta({ description: 'waits until the phone shows it' }),
    press: Press.optional().meta({ description: 'waits for the button, and presses it' }),
    fault: (fault.unwrap() as z.ZodObject)
      .extend({ certificateOf: nameOf('account').optional() })
      .optional()
      .meta({ description: OPERATIONS.fault.description }),
    ...actions,
    advance: OPERATIONS.advance.input.optional(),
  })
  .refine(
    ({ as: _, ...action }) => Object.keys(action).length === 1,
    'expected exactly one action beside `as`',
  )
  .meta({ id: 'ScenarioStep', minProperties: 1, maxProperties: 2 })
