/** A line of `postern check`. `hint` is what to do. */
export interface CheckLine {
  name: string
  level: 'pass' | 'warn' | 'fail'
  message: string
  hint?: string
}

export const pass = (name: string, message: string): CheckLine => ({ name, level: 'pass', message })

const withHint =
  (level: 'warn' | 'fail') =>
  (name: string, message: string, hint: string): CheckLine => ({ name, level, message, hint })

export const warn = withHint('warn')
export const fail = withHint('fail')
