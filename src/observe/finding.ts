/** A line of the doctor's (`postern check`). */
export interface Finding {
  name: string
  level: 'pass' | 'warn' | 'fail'
  message: string
  hint?: string
}

export const pass = (name: string, message: string): Finding => ({ name, level: 'pass', message })

export const warn = (name: string, message: string, hint: string): Finding => ({
  name,
  level: 'warn',
  message,
  hint,
})

export const fail = (name: string, message: string, hint: string): Finding => ({
  name,
  level: 'fail',
  message,
  hint,
})
