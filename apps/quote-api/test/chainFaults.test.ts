// Goal: whatever the node of a chain does, every request is answered soon: with a price from what is
// fresh, or with a typed refusal; other routes go on, and the service recovers by itself. Method: a
// service per fault over real nodes, a proxy that misbehaves before one of them, a node that is killed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import {
  type Anvil,
  type FaultMode,
  type FaultProxy,
  localChainIds,
  startAnvil,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { marketHealthSchema } from '@causeway/market'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { priceResponseSchema } from '../src/http/wire/priceResponse.ts'
import { startTestService, type TestService } from './fixtures/service.ts'
import { type Answer, post, price, readError, readOk, send } from './serviceSupport/callService.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import { localRequest } from './serviceSupport/localRequest.ts'

/** Within this a request is answered, whatever a chain does; far above its limits, for loaded machines. */
const answerBudgetMs = 60_000
const amount = 100_000_000n
/** As far as it is changed here. */
const quoteFileSchema = z.looseObject({ chains: z.looseObject({ optimism: z.looseObject({}) }) })
const impatientMs = 4_000

let network: TestNetwork
let database: TestDatabase
/** The pace of these nodes, a block a second. */
let paced: ConfigCopy
/**
 * Pace as above, but optimism's head goes stale soon: it must be refused, and base never, however busy the machine is.
 */
let impatient: ConfigCopy
let directory: string

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  database = await startTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'causeway-chain-faults-'))
  paced = await copyConfigs()
  impatient = await copyConfigs()
  for (const configs of [paced, impatient]) {
    await configs.replace('quote.local.json', '"blockTimeMs": 2000', '"blockTimeMs": 1000')
  }
  await impatient.edit('quote.local.json', (json) => {
    const { chains, ...rest } = quoteFileSchema.parse(json)
    return {
      ...rest,
      chains: { ...chains, optimism: { ...chains.optimism, headMaxAgeMs: impatientMs } },
    }
  })
})
afterAll(async () => {
  await database?.stop()
  await network?.stop()
  await paced?.remove()
  await impatient?.remove()
  await rm(directory, { recursive: true, force: true })
})

type Place = {
  readonly CONFIG_DIR: string
  readonly BASE_RPC_URL?: string
  readonly OPTIMISM_RPC_URL?: string
}

/** Runs `work` against a service of its own that reads chains there. */
async function withService(
  place: Place,
  work: (url: string, service: TestService) => Promise<void>,
): Promise<void> {
  const service = await startTestService(network, {
    DATABASE_URL: database.connectionString,
    ...place,
  })
  try {
    const { publicUrl } = await service.listen()
    await expectPriced(publicUrl)
    await work(publicUrl, service)
  } finally {
    await service.stop()
  }
}

const bridge = () => localRequest(network, { amount })
const onBase = () => localRequest(network, { to: 'base', receive: 'native', amount })
/** Asks the destination about its calls while the request waits. */
const withCalls = () =>
  localRequest(network, {
    amount,
    more: { txs: [{ to: network.deployment.optimism.tokens.USDC, value: '0', data: randomCall() }] },
  })

/** `balanceOf` of somebody new, so that no earlier simulation is reused. */
function randomCall(): string {
  const holder = Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')
  return `0x70a08231${holder.padStart(64, '0')}`
}

/** A 200 is what the chains last said: 100 USDC less about two cents. Anything else is typed. */
function expectPricedOrTyped(answer: Answer): void {
  expect(answer.elapsedMs).toBeLessThan(answerBudgetMs)
  if (answer.status !== 200) {
    expectTyped(answer)
    return
  }
  const { fees, details } = readOk(answer, priceResponseSchema)
  const out = BigInt(details.currencyOut.amount)
  expect(out + BigInt(fees.relayer.amount)).toBe(amount)
  expect(out).toBeGreaterThan(amount - 100_000n)
}

function expectTyped(answer: Answer): void {
  expect([400, 503]).toContain(answer.status)
  const { errorCode, retryable } = readError(answer)
  expect(errorCode).toMatch(
    /^(SERVICE_UNAVAILABLE|PRICE_FETCH_FAILED|RPC_HTTP_ERROR|REQUEST_TIMED_OUT|SIMULATION_[A-Z]+)$/,
  )
  expect(retryable ?? false).toBe(answer.status === 503)
  expect(answer.text).not.toMatch(/127\.0\.0\.1|<html|at .*\.ts/)
}

async function expectPriced(url: string): Promise<void> {
  await waitUntil('the bridge is priced', async () => (await post(`${url}/price`, bridge())).status === 200)
}

/** One of each kind of request; the route that does not touch the faulty chain must be served. */
async function askEverything(url: string): Promise<Answer> {
  const [priced, stored, called, elsewhere] = await Promise.all([
    post(`${url}/price`, bridge()),
    post(`${url}/quote`, bridge()),
    post(`${url}/price`, withCalls()),
    quoted(url, onBase()),
  ])
  for (const answer of [priced, stored, called]) expectPricedOrTyped(answer)
  expect(elsewhere.elapsedMs).toBeLessThan(answerBudgetMs)
  expect([elsewhere.status, elsewhere.text.slice(0, 200)]).toEqual([200, expect.any(String)])
  return priced
}

/** Nine services of these tests write to one database: that it is slow on a busy machine says nothing about chains. */
async function quoted(url: string, body: object): Promise<Answer> {
  let answer = await post(`${url}/quote`, body)
  while (answer.status === 503 && answer.text.includes('The database did not answer'))
    answer = await post(`${url}/quote`, body)
  return answer
}

/** Asks until the chain is refused, and a little longer. What is fresh is used as long as it is fresh. */
async function askUntilRefused(url: string): Promise<void> {
  const answers: Answer[] = []
  const ageBefore = await headAgeMs(url)
  const first = await askEverything(url)
  // A busy machine may have let it grow old before anybody asked.
  if (ageBefore + first.elapsedMs < impatientMs) expect(first.status).toBe(200)
  await waitUntil('the chain is refused', async () => {
    answers.push(await askEverything(url))
    return answers.filter(({ status }) => status === 503).length >= 3
  })
}

/** Age of optimism's head when it was told. */
async function headAgeMs(url: string): Promise<number> {
  const { chains } = readOk(await send(`${url}/prices/health`), marketHealthSchema)
  return chains.find(({ chain }) => chain === 'optimism')?.head?.ageMs ?? impatientMs
}

/** Asserts what callers see while optimism cannot be read. */
async function expectRefusedByName(url: string, service: TestService): Promise<void> {
  const refused = await post(`${url}/quote`, bridge())
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]/)
  expect(readError(refused)).toMatchObject({
    message: expect.stringContaining('10'),
    errorCode: 'SERVICE_UNAVAILABLE',
    retryable: true,
  })
  const health = readOk(await send(`${url}/prices/health`), marketHealthSchema)
  expect(Object.fromEntries(health.chains.map(({ chain, state }) => [chain, state]))).toEqual({
    base: 'ok',
    optimism: expect.stringMatching(/^stale_(head|gas)$/),
  })
  // One chain that is down is no reason to take the service from its balancer.
  expect((await service.readiness.report()).checks).toMatchObject({ market: 'ok' })
}

const faults: readonly (readonly [string, () => Promise<FaultMode>])[] = [
  ['hangs', async () => ({ kind: 'hang' })],
  ['refuses connections', async () => ({ kind: 'refuse' })],
  ['answers HTML', async () => ({ kind: 'html200' })],
  ['answers half a document', async () => ({ kind: 'halfJson' })],
  ['answers 429', async () => ({ kind: 'http', status: 429, retryAfter: '1' })],
  [
    'is stuck at an old block',
    async () => ({ kind: 'staleHead', block: await network.chains.optimism.chain.client.getBlockNumber() }),
  ],
]

describe.concurrent('a node that', () => {
  test.each(faults)(
    '%s: every request is answered in time, and the chain comes back',
    async (_name, mode) => {
      const proxy = await startFaultProxy({ targetUrl: network.chains.optimism.url })
      try {
        await withService(
          { CONFIG_DIR: impatient.directory, OPTIMISM_RPC_URL: proxy.url },
          async (url, service) => {
            await proxy.set(await mode())
            await askUntilRefused(url)
            await expectRefusedByName(url, service)
            await proxy.set({ kind: 'pass' })
            await expectPriced(url)
            await expectAllServed(url)
          },
        )
      } finally {
        await proxy.stop()
      }
    },
  )

  test('is killed: the service prices again when a node with its state is back', async () => {
    const { chain } = network.chains.optimism
    const stateFile = join(directory, 'killed-chain.json')
    const save = async (dump: Promise<string>) =>
      writeFile(stateFile, gunzipSync(Buffer.from((await dump).slice(2), 'hex')))
    await save(chain.node.dumpState())
    let node = await startFrom(stateFile)
    try {
      await withService(
        { CONFIG_DIR: impatient.directory, OPTIMISM_RPC_URL: node.url },
        async (url, service) => {
          process.kill(node.pid, 'SIGKILL')
          await askUntilRefused(url)
          await expectRefusedByName(url, service)
          node = await startFrom(stateFile, node.port)
          await expectPriced(url)
          await expectAllServed(url)
        },
      )
    } finally {
      await node.stop()
    }
  })
})

/** A user chain that goes on from a saved state. */
function startFrom(stateFile: string, port?: number): Promise<Anvil> {
  return startAnvil({
    chainId: localChainIds.optimism,
    args: [
      ...['--load-state', stateFile, '--block-time', '1', '--mixed-mining'],
      ...['--accounts', '0', '--slots-in-an-epoch', '1'],
    ],
    ...(port !== undefined && { port }),
  })
}

/** The chain is back: what still meets a value that is too old is refused by name, and served soon after. */
async function expectAllServed(url: string): Promise<void> {
  await waitUntil('every kind of request is served again', async () => {
    const answers = await Promise.all([
      post(`${url}/price`, bridge()),
      post(`${url}/quote`, bridge()),
      post(`${url}/price`, withCalls()),
    ])
    for (const answer of answers) expectPricedOrTyped(answer)
    return answers.every(({ status }) => status === 200)
  })
}

/** Height of base as the service sees it. */
async function baseHead(url: string): Promise<bigint> {
  const { chains } = readOk(await send(`${url}/prices/health`), marketHealthSchema)
  return BigInt(chains.find(({ chain }) => chain === 'base')?.head?.number ?? 0)
}

// Alone: that nothing is refused says something about chains only where the machine has time for it.
describe('three endpoints of one chain', () => {
  /** @param work is given the proxy before the endpoint that is named first */
  async function withThree(work: (url: string, first: FaultProxy) => Promise<void>): Promise<void> {
    const { url } = network.chains.base
    const proxies = [
      await startFaultProxy({ targetUrl: url }),
      await startFaultProxy({ targetUrl: url }),
      await startFaultProxy({ targetUrl: url }),
    ] as const
    try {
      const [first] = proxies
      const urls = proxies.map((proxy) => proxy.url).join(', ')
      const place = { CONFIG_DIR: paced.directory, BASE_RPC_URL: urls }
      await withService(place, (service) => work(service, first))
    } finally {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    }
  }

  const modes: readonly FaultMode[] = [
    { kind: 'hang' },
    { kind: 'refuse' },
    { kind: 'html200' },
    { kind: 'halfJson' },
    { kind: 'http', status: 429 },
    { kind: 'http', status: 503 },
  ]

  test('the first faulty, however: not one quote is refused, and the chain is followed', async () => {
    await withThree(async (url, first) => {
      for (const mode of modes) {
        await first.set(mode)
        const block = await network.chains.base.chain.client.getBlockNumber()
        await waitUntil(
          `the service reads blocks while the first endpoint is in mode ${mode.kind}`,
          async () => {
            const answers = await Promise.all([
              post(`${url}/price`, bridge()),
              quoted(url, bridge()),
              quoted(url, onBase()),
            ])
            expect(
              answers.flatMap(({ status, text }) => (status === 200 ? [] : [text])),
              mode.kind,
            ).toEqual([])
            return (await baseHead(url)) > block + 1n
          },
        )
        await first.set({ kind: 'pass' })
      }
    })
  })

  test('the first stuck at an old block: it is left alone, and quotes go on from the others', async () => {
    await withThree(async (url, first) => {
      const block = await network.chains.base.chain.client.getBlockNumber()
      await first.set({ kind: 'staleHead', block })
      const isAhead = async () => (await baseHead(url)) > block + 5n
      await waitUntil('the service follows the other endpoints', isAhead)
      await expectPriced(url)
      expect((await price(url, bridge())).details.currencyOut.amount).toMatch(/^99/)
    })
  })
})
