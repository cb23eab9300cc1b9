/** Operations on the sidecar as a whole. */
import { z } from 'zod'
import { nothing, operation } from './operation.ts'
import { MAX_ARMORED_BYTES } from './protocol.ts'

export const SIDECAR = {
  status: operation('How the sidecar is doing.', nothing, ({ status }) => status()),
  check: operation('What the doctor finds.', nothing, ({ check }) => check()),
  open: operation(
    'Opens one armored message with the keyring.',
    z.strictObject({ armored: z.string().max(MAX_ARMORED_BYTES) }),
    ({ open }, { armored }) => open(armored),
  ),
}
