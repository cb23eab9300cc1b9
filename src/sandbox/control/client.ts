import { deriveCalls } from '../../rpc/operation.ts'
import { ControlError } from './operation.ts'
import { OPERATIONS, type Control } from './table.ts'

/**
 * The same operations over a control listener, for programs outside the sandbox's process.
 * Takes the `controlUrl` that `postern sandbox --json` prints.
 * @throws ControlError (each operation) when the sandbox refuses
 */
export function createControlClient(controlUrl: string): Control {
  return deriveCalls(OPERATIONS, async (name, input) => {
    const answer = await fetch(`${controlUrl}/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    })
    const envelope = (await answer.json()) as {
      ok: boolean
      result: unknown
      error?: { message: string }
    }
    if (!envelope.ok) throw new ControlError(envelope.error?.message ?? 'refused')
    return envelope.result
  })
}
