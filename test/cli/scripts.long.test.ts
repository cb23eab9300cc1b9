/** Scripts about keys and backups, which start many processes: `npm run test:all` alone. */
import { testScripts } from './scripts.ts'

testScripts('long/*.txt')
