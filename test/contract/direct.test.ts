import { SandboxDriver } from './ways/sandbox-driver.ts'
import { testAll } from './ways/tests.ts'

testAll(new SandboxDriver('direct'))
