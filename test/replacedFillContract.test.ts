// Goal: whoever deploys a release's fill contract loses no order that is under way: a quote of before, its deposit, its
// sponsor's hold and its refund go on. Attacker: nobody, but an upgrade in the middle of a day. Method: a replica that
// still has the files of before, with the contract that 0.2.0 deployed, quotes and takes orders; the one with the files
// that `contracts deploy --write` leaves, the solver and oracles carry them out; real nodes and PostgreSQL.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create2Proxy, planCreate2Deployment } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { spawnSolver, type TestNetwork, waitUntil } from '@causeway/localnet'
import { concatHex, keccak256, zeroHash } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyEvmConfigs } from '../apps/quote-api/test/fixtures/evmConfigs.ts'
import {
  repositoryRoot,
  startTestService,
  type TestService,
} from '../apps/quote-api/test/fixtures/service.ts'
import {
  createRequestDriver,
  debitOf,
  type RequestDriver,
} from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  solverKey,
  startSettlementBed,
  startStandInOracles,
} from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { solverVariables } from '../apps/quote-api/test/settlementSupport/solverVariables.ts'
import { createSponsor, moneyOf, type TestSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'

const balance = 1_000_000_000n
const amount = 60_000_000n
const userChains = ['base', 'optimism']
/** Only ends a test that would hang. */
const longTest = { timeout: 600_000 }

let directory: string
let replaced: Hex
/** A contract of a release before records: no function of it answers. */
const recordless: Hex = `0x${'a1'.repeat(20)}`
const recordlessCode: Hex = '0x00'
let oracles: StandInOracles
let bed: SettlementBed
/** Replicas with the files of before. */
let earlier: readonly TestService[] = []
let sponsor: TestSponsor
let solverSettings: Readonly<Record<string, string>>

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-replaced-'))
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    async environment(network) {
      replaced = await deployEarlier(network)
      for (const key of ['base', 'optimism'] as const)
        await network.chains[key].chain.node.setCode({ address: recordless, bytecode: recordlessCode })
      return { CONFIG_DIR: await configsOf('after', (own) => [recordless, replaced, own]) }
    },
  })
  sponsor = await createSponsor(bed.database, balance)
  const variables = await solverVariables({
    network: bed.network,
    directory,
    server: bed,
    database: bed.database,
    quoteApiUrl: bed.url,
    quoteApiKey: solverKey,
  })
  solverSettings = { ...variables, CONFIG_DIR: join(directory, 'after') }
}, 120_000)
afterAll(async () => {
  for (const service of earlier) await service.stop()
  await bed?.stop()
  await oracles?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function deployEarlier({ chains, keys }: TestNetwork): Promise<Hex> {
  const file = join(repositoryRoot, 'packages/contracts/test/fixtures/fillContract-0.2.0.hex')
  // CAST: the file is hex, or nothing of known code is deployed.
  const { salt, initCode, address } = planCreate2Deployment(
    zeroHash,
    (await readFile(file, 'utf8')).trim() as Hex,
  )
  const transaction = { what: 'the contract of 0.2.0', to: create2Proxy, data: concatHex([salt, initCode]) }
  for (const { chain } of [chains.base, chains.optimism]) await chain.send(keys.deployer, [transaction])
  return address
}

/** Starts a replica with the files of before. */
async function beforeUpgrade(contract: Hex): Promise<RequestDriver> {
  const service = await startTestService(bed.network, {
    ...serviceSettings(bed.connectionString, oracles.setting),
    JOBS: 'off',
    CONFIG_DIR: await configsOf(contract, () => [contract]),
  })
  earlier = [...earlier, service]
  const { publicUrl: url } = await service.listen()
  return createRequestDriver({ network: bed.network, database: bed.database, url, solver: bed.solver })
}

async function withSolver(work: () => Promise<void>): Promise<void> {
  const solver = spawnSolver(solverSettings)
  try {
    await solver.ready()
    await work()
  } catch (error) {
    throw new Error(solver.output(), { cause: error })
  } finally {
    solver.kill('SIGKILL')
    await solver.ended
    // The contract that it pays through counts for a minute, and stops replicas with the files of before.
    await bed.database.query('delete from solver_terms')
  }
}

type Members = Record<string, unknown>

/** Files whose chain entries list these contracts; the last one is the quote file's. @returns `CONFIG_DIR` */
async function configsOf(name: string, listed: (own: Hex) => readonly [Hex, ...Hex[]]): Promise<string> {
  const folder = join(directory, name)
  await copyEvmConfigs(join(repositoryRoot, 'configs'), folder)
  const rewrite = async (file: string, change: (json: { chains: Record<string, Members> }) => void) => {
    const path = join(folder, file)
    const json = JSON.parse(await readFile(path, 'utf8'))
    change(json)
    await writeFile(path, JSON.stringify(json))
  }
  await rewrite('chains.local.json', ({ chains }) => {
    for (const chain of Object.values(chains)) {
      if (!userChains.some((key) => key === chain['id'])) continue
      // CAST: the shipped file lists the contract of each of these chains.
      const [own] = chain['fillContracts'] as readonly [Hex]
      chain['fillContracts'] = listed(own)
      chain['codeHashes'] = { [recordless]: keccak256(recordlessCode) }
    }
  })
  await rewrite('quote.local.json', ({ chains }) => {
    for (const key of userChains) {
      const chain = chains[key]
      // CAST: the shipped file names the contract of each of these chains.
      if (chain !== undefined) chain['fillContract'] = listed(chain['fillContract'] as Hex).at(-1)
    }
  })
  return folder
}

test(
  'L-29: orders, deposits, holds and refunds of a replaced contract outlive the upgrade',
  longTest,
  async () => {
    const requests = await beforeUpgrade(replaced)
    const quote = await requests.quoted(sponsor, { amount })
    const short = await requests.quoted(sponsor, { amount })
    await requests.execute(quote)
    // Too little for its order, so that it goes back.
    await requests.deposit(short, { amount: amount / 2n })
    const item = await requests.workFor(quote, 'fill')
    expect(item.payload).toMatchObject({ fillContract: replaced })
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBeGreaterThan(0n)

    await withSolver(async () => {
      await requests.reachesStage(quote, 'settled')
      await requests.reachesStage(short, 'refunded')
      // Replicas are restarted after the solver, and sell meanwhile.
      await requests.quoted(await createSponsor(bed.database, balance), { amount })
    })
    const [filled, back] = [await requests.statusOf(quote), await requests.statusOf(short)]
    expect([filled.status, back.status]).toEqual(['success', 'refund'])
    await waitUntil('the other hold is released', async () => {
      const money = await moneyOf(bed.database, sponsor.wallet)
      return money.held === 0n && money.available === balance - debitOf(quote)
    })
    const { base, optimism } = bed.network.chains
    for (const [{ chain }, { txHashes }] of [[optimism, filled] as const, [base, back] as const]) {
      // CAST: the status of these chains has hex hashes.
      const { to } = await chain.client.getTransactionReceipt({ hash: txHashes?.at(-1) as Hex })
      expect(to).toBe(replaced)
    }
  },
)

test(
  'L-29: an order of a contract without records is given back, and costs its sponsor nothing',
  longTest,
  async () => {
    const { available } = await moneyOf(bed.database, sponsor.wallet)
    const requests = await beforeUpgrade(recordless)
    const quote = await requests.quoted(sponsor, { amount })
    await requests.execute(quote)
    await withSolver(() => requests.reachesStage(quote, 'refunded'))
    const { status, txHashes } = await requests.statusOf(quote)
    // CAST: the status of this chain has hex hashes.
    const { to } = await bed.network.chains.base.chain.client.getTransactionReceipt({
      hash: txHashes?.at(-1) as Hex,
    })
    expect([status, to]).toEqual(['refund', bed.network.deployment.base.fillContract])
    await waitUntil(
      'the hold is released',
      async () => (await moneyOf(bed.database, sponsor.wallet)).available === available,
    )
  },
)
