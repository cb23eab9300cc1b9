import { testScripts } from './scripts.ts'

testScripts('control*.txt')
