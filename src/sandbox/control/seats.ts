import { ALL_RIGHTS, type Membership, type MembershipStatus } from '../state.ts'
import { usualRights } from '../rules/memberships.ts'
import { ControlError, definedFields } from './operation.ts'

/** What can be set of a membership; what is absent stays, or comes with the status. */
export interface SeatChange {
  status?: MembershipStatus | undefined
  rights?: number | undefined
  restrictedUntil?: number | null | undefined
  title?: string | null | undefined
}

/**
 * Changes a membership. With another status come its usual rights, and a restriction ends.
 * @throws ControlError as `requireSeat` does
 */
export function changeSeat(member: Membership, change: SeatChange): void {
  const status = change.status ?? member.status
  requireSeat(status, change)
  const isOther = status !== member.status
  const renewed = isOther ? { rights: usualRights(status), restrictedUntil: null } : {}
  Object.assign(member, renewed, definedFields(change))
}

/**
 * @throws ControlError for rights that do not go with the status, and for an end of a restriction
 *   that there is not
 */
export function requireSeat(
  status: MembershipStatus,
  { rights, restrictedUntil }: SeatChange,
): void {
  if (rights !== undefined && status !== 'admin' && rights !== usualRights(status)) {
    const held = status === 'owner' ? `every right (${ALL_RIGHTS})` : 'no rights (0)'
    throw new ControlError(`rights: with the status ${status} one holds ${held}`)
  }
  if (typeof restrictedUntil === 'number' && status !== 'restricted') {
    throw new ControlError('restrictedUntil: only with the status restricted')
  }
}
