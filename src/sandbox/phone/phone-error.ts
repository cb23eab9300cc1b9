import { PosternError } from '../../errors.ts'

/** A phone cannot do it: its person may not write there, the message is gone, and the like. */
export class PhoneError extends PosternError {
  readonly code = 'bad_control'
}
