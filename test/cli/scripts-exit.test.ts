import { testScripts } from './scripts.ts'

testScripts('exit*.txt')
