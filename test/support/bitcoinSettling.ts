// A user with a wallet on Bitcoin, a solver that works by hand, and stand-in oracles, around the real service over two EVM
// chains and a constructed Bitcoin chain: its transactions, ids, headers and merkle trees are real, its work is not.
import { bitcoinLibrary } from '@causeway/core'
import { createDatabase, type Database, startTestDatabase } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import {
  type BitcoinNode,
  ConstructedChain,
  keyOf,
  startBitcoinNode,
  type TestKey,
} from '@causeway/localnet/standIns/bitcoin'
import { z } from 'zod'
import { quoteResponseSchema } from '../../apps/quote-api/src/http/wire/quoteResponse.ts'
import { startTestService, type TestService } from '../../apps/quote-api/test/fixtures/service.ts'
import {
  type Answer,
  post,
  postPatiently,
  type QuoteAnswer,
  readOk,
} from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { copyConfigs } from '../../apps/quote-api/test/serviceSupport/configCopy.ts'
import { currencyAddress, userOf } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  createRequestDriver,
  type RequestDriver,
} from '../../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { createScriptedSolver } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import {
  type StandInOracles,
  serviceSettings,
  solverKey,
  startStandInOracles,
} from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'

/** @source families.md 1: the chain id that public clients know */
export const bitcoinChainId = 8_253_038
export const bitcoin = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'

export type BitcoinSettling = {
  readonly network: TestNetwork
  readonly chain: ConstructedChain
  /** Three of them show the chain; the first may be made a liar. */
  readonly nodes: readonly BitcoinNode[]
  readonly service: TestService
  readonly url: string
  readonly database: Database
  readonly oracles: StandInOracles
  readonly requests: RequestDriver
  stop(): Promise<void>
}

type Json = Record<string, unknown>

export async function startBitcoinSettling(): Promise<BitcoinSettling> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const chain = new ConstructedChain()
    const nodes = await Promise.all([1, 2, 3].map(() => startBitcoinNode(chain)))
    closers.push(() => Promise.all(nodes.map((node) => node.stop())))
    const [network, configs, oracles, server] = await Promise.all([
      startTestNetwork({ blockTimeSeconds: 1 }),
      copyConfigs(),
      startStandInOracles(),
      startTestDatabase(),
    ])
    closers.push(network.stop, configs.remove, oracles.stop, () => server.stop())
    // In this world a bitcoin costs what an ether costs: the network has no other feed for it.
    await configs.edit('quote.local.json', (json) => {
      const file = Object(json)
      const eth = file.assets.find(({ id }: Json) => id === 'eth')
      const assets = [...file.assets, { ...eth, id: 'btc' }]
      const described = {
        ...{ chainId: bitcoinChainId, name: 'bitcoin', displayName: 'Bitcoin (local)', blockTimeMs: 1_000 },
        ...{ headMaxAgeMs: 10 * 365 * 24 * 3_600_000, feeModel: { kind: 'feerate' } },
        pinPolicy: [{ confirmations: 1 }],
        currencies: [
          {
            ...{ address: bitcoin, symbol: 'BTC', name: 'Bitcoin', decimals: 8, asset: 'btc' },
            ...{ solver: true, targetShareBps: 10_000, source: 'local network' },
          },
        ],
      }
      return { ...file, assets, chains: { ...file.chains, bitcoin: described } }
    })
    const urlsOf = (api: 'node' | 'esplora') => nodes.map((node) => node.url(api)).join(',')
    const service = await startTestService(network, {
      CONFIG_DIR: configs.directory,
      BITCOIN_RPC_URL: urlsOf('node'),
      BITCOIN_ESPLORA_COMPATIBLE_API_URL: urlsOf('esplora'),
      ...serviceSettings(server.connectionString, oracles.setting),
    })
    closers.push(() => service.stop())
    const { publicUrl: url } = await service.listen()
    const database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
    closers.push(() => database.close())
    const solver = createScriptedSolver({ network, url, apiKey: solverKey })
    const requests = createRequestDriver({ network, database, url, solver })
    return { network, chain, nodes, service, url, database, oracles, requests, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const { Psbt, Transaction } = bitcoinLibrary()
type Psbt = InstanceType<typeof Psbt>

let users = 0

/** A user whose outputs are confirmed. */
export function fundedUser({ chain }: BitcoinSettling, values: readonly bigint[]): TestKey {
  users += 1
  const user = keyOf(`user ${users}`)
  const funding = new Transaction()
  funding.addInput(new Uint8Array(32).fill(users), users, 0xffff_ffff, Uint8Array.of(0x51))
  for (const value of values) funding.addOutput(user.witness.script, value)
  chain.mine(funding)
  return user
}

/** What a quote from Bitcoin to dollars on base asks for; `more` replaces members of the request. */
export function fromBitcoin({ network }: BitcoinSettling, user: string, more: Json = {}): Json {
  return {
    ...{
      user,
      recipient: userOf(network, 0).address,
      originChainId: bitcoinChainId,
      destinationChainId: 8453,
    },
    ...{ originCurrency: bitcoin, destinationCurrency: currencyAddress(network, 'base', 'USDC') },
    ...{ amount: '2000000', tradeType: 'EXACT_INPUT' },
    ...more,
  }
}

export const quoteFromBitcoin = async (
  at: BitcoinSettling,
  user: string,
  more: Json = {},
): Promise<QuoteAnswer> =>
  readOk(await postPatiently(`${at.url}/quote`, fromBitcoin(at, user, more)), quoteResponseSchema)

export const askQuote = (at: BitcoinSettling, user: string, more: Json = {}): Promise<Answer> =>
  post(`${at.url}/quote`, fromBitcoin(at, user, more))

const stepData = z.object({ psbt: z.string() })

/** Of the one step of a quote from Bitcoin. */
export function psbtOf({ steps }: QuoteAnswer): Psbt {
  return Psbt.fromHex(stepData.parse(steps[0]?.items[0]?.data).psbt)
}

/** As the public adapter does it: every input signed, the whole finalised and sent. @returns the transaction id */
export async function sendPsbt({ nodes }: BitcoinSettling, psbt: Psbt, { signer }: TestKey): Promise<string> {
  const transaction = psbt.signAllInputs(signer).finalizeAllInputs().extractTransaction()
  const [node] = nodes
  const sent = await fetch(`${node?.url('esplora')}/tx`, { method: 'POST', body: transaction.toHex() })
  if (!sent.ok) throw new Error(`it was not taken: ${await sent.text()}`)
  return sent.text()
}
