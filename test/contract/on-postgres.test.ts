import { describe } from 'vitest'
import { hasPostgres, sharedCluster } from '../support/postgres.ts'
import { SandboxDriver } from './ways/sandbox-driver.ts'
import { testThroughSidecar } from './ways/tests.ts'

const storeUrl = async (): Promise<string> => (await sharedCluster()).url

describe.skipIf(!hasPostgres())('with its store on PostgreSQL', () => {
  testThroughSidecar(new SandboxDriver('protected', { storeUrl }))
})
