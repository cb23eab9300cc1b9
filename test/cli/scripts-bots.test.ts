import { testScripts } from './scripts.ts'

testScripts('bots*.txt')
