// Goal: a chain that makes five blocks a second costs an oracle no more calls than one that makes a block in two
// seconds, while it follows both and looks through their final blocks ahead of requests. Method: `main.ts` with the
// default cadences, over two real nodes behind proxies that count.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  blockTimes,
  type CountedChains,
  findUnequalWork,
  makeBlocks,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OracleProcess, oracleVariables, spawnOracle } from './support/oracleProcess.ts'

let network: TestNetwork
let directory: string
let stopMaking: () => void
let counted: CountedChains
let oracle: OracleProcess

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 2 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-oracle-fast-'))
  const { base, optimism } = network.chains
  stopMaking = makeBlocks(base.url, blockTimes.base)
  counted = {
    base: await startFaultProxy({ targetUrl: base.url }),
    optimism: await startFaultProxy({ targetUrl: optimism.url }),
  }
  const { FINALITY_CHECK_INTERVAL_MS: _often, ...variables } = oracleVariables(network)
  oracle = spawnOracle({
    ...variables,
    BASE_RPC_URL: counted.base.url,
    OPTIMISM_RPC_URL: counted.optimism.url,
    AHEAD: 'on',
    STATE_DIR: directory,
  })
  await oracle.listening()
})
afterAll(async () => {
  await oracle?.stop()
  stopMaking?.()
  await Promise.all([counted?.base.stop(), counted?.optimism.stop()])
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

test('F-106: five blocks a second cost an oracle as much as one in two seconds', async () => {
  // A start looks back over all blocks in its window; that must be over before the counts are compared.
  await pause(6_000)
  expect(await findUnequalWork(counted, 40)).toEqual([])
})
