import { SandboxDriver } from './ways/sandbox-driver.ts'
import { testThroughSidecar } from './ways/tests.ts'

testThroughSidecar(new SandboxDriver('protected'))
