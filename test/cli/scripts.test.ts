/** The scripts that no other `scripts-*.test.ts` runs. */
import { testScripts } from './scripts.ts'

testScripts('!(bots|control|exit|page|sandbox)*.txt')
