import { z } from 'zod'
import { REFERENCES, type ReferenceKind } from '../control/fields.ts'
import { OPERATIONS } from '../control/table.ts'
import { PhoneVerdict } from '../phone/seen.ts'
import { actionShapes } from '../seed/actions.ts'

const nameOf = (kind: ReferenceKind) => z.string().min(1).register(REFERENCES, { kind })
const inChat = { userId: nameOf('person'), chatId: nameOf('chat') }
const Labelled = z
  .string()
  .describe('the `as` of a step above: the message that it wrote or saw')
  .register(REFERENCES, { kind: 'step' })

/** What a phone has to show of a message. */
const Expectation = z.strictObject({
  ...inChat,
  fromId: nameOf('account'),
  text: z.string().optional(),
  replyTo: Labelled.optional(),
  verdict: PhoneVerdict.optional(),
  buttons: z.array(z.array(z.string())).optional().describe('their texts, row by row'),
})
const Press = z.strictObject({
  ...inChat,
  data: z.string().describe('the `callbackData` of the button'),
  messageId: Labelled.optional(),
  answer: z.string().optional().describe('the text that the bot answers with'),
})
const { press: _ours, fault, ...actions } = actionShapes(Labelled)

/** A step of a scenario: an action of people, or what a phone has to show. */
export const ScenarioStep = z
  .strictObject({
    as: z.string().min(1).optional().describe('a name for the message of this step'),
    expect: Expectation.optional().describe('waits until the phone shows it'),
    press: Press.optional().describe('waits for the button, and presses it'),
    fault: (fault.unwrap() as z.ZodObject)
      .extend({ certificateOf: nameOf('account').optional() })
      .optional()
      .describe(OPERATIONS.fault.description),
    ...actions,
    advance: OPERATIONS.advance.input.optional(),
  })
  .refine(
    (step) => Object.keys(step).length === ('as' in step ? 2 : 1),
    'expected exactly one action beside `as`',
  )
  .meta({ id: 'ScenarioStep', minProperties: 1, maxProperties: 2 })
