import { testScripts } from './scripts.ts'

testScripts('{page,sandbox}*.txt')
