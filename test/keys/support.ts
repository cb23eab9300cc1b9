import { ServiceError } from '../../src/errors.ts'

/** What the service refuses with; its words do not matter here. */
export function serviceError(status: number, retryAfterSeconds?: number): ServiceError {
  const answer = { status, headers: {}, body: Buffer.alloc(0) }
  return new ServiceError({ code: `refused_${status}`, status, retryAfterSeconds, answer })
}
