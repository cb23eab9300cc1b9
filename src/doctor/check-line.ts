/** A line of `postern check`. `hint` says what to do. */
export interface CheckLine {
  name: string
  level: 'pass' | 'warn' | 'fail'
  message: string
  hint?: string
}

export const pass = (name: string, message: string): CheckLine => ({ name, level: 'pass', message })

export const warn = (name: string, message: string, hint: string): CheckLine => ({
  name,
  level: 'warn',
  message,
  hint,
})

export const fail = (name: string, message: string, hint: string): CheckLine => ({
  name,
  level: 'fail',
  message,
  hint,
})
