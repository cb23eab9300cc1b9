import { testScripts } from './scripts.ts'

testScripts('*.txt')
