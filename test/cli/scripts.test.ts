/** The scripts that no other `scripts-*.test.ts` runs. */
import { testScripts } from './scripts.ts'

testScripts('!(bots|exit|page|sandbox)*.txt')
