import { RefusedError } from './api.js'

/** Why something was not done, for people. @param {unknown} error */
export function messageOf(error) {
  if (error instanceof RefusedError) return error.message
  return 'The sandbox does not answer.'
}
