import { describe } from 'vitest'
import { hasPostgres, sharedCluster } from '../support/postgres.ts'
import { SandboxDriver } from './ways/sandbox-driver.ts'
import { testThroughSidecar } from './ways/tests.ts'

const storeUrl = async (): Promise<string> => (await sharedCluster()).url

describe.skipIf(!hasPostgres())('the suite through a sidecar with a PostgreSQL store', () => {
  testThroughSidecar(new SandboxDriver('protected', { storeUrl }))
})
