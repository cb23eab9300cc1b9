import { issuePermit, type Outbound, type PermitTarget } from '../../src/kernel/wall/permit.ts'

/** A permit as the guard issues one; `holds` says for how long. */
export function permitFor(
  target: PermitTarget,
  { body = '{}', holds = (): boolean => true }: { body?: string; holds?: () => boolean } = {},
): Outbound {
  return issuePermit(target, Buffer.from(body), { holds, renew: () => Promise.resolve() })
}
