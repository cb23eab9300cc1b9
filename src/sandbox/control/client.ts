import { ControlError } from './operation.ts'
import { ALL_OPERATIONS, type Control } from './table.ts'

/**
 * The same operations over a control listener, for programs outside the sandbox's process.
 * Takes the `controlUrl` that `postern sandbox --json` prints.
 * @throws ControlError (each operation) when the sandbox refuses
 */
export function createControlClient(controlUrl: string): Control {
  const calls = ALL_OPERATIONS.map(([name]) => [
    name,
    async (input: object): Promise<unknown> => {
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
    },
  ])
  return Object.fromEntries(calls) as Control
}
