// Goal: whoever a request names on a chain of contracts is refused by name, or is paid by the shipped solver and attested by
// the oracles: there is no third outcome. Attackers: a payee who is quoted and then cannot be paid, so that money stands
// still. Method: the service, three peered oracles, and a solver in a process of its own over real nodes; code comes to
// accounts by real transactions of creation and delegation. What no chain has to be asked about is in
// `payeeTable.test.ts`, and other families are in `payees.test.ts`.
import type { Hex } from '@causeway/core'
import { caliburAddress, safeCode, safeProxy, spawnSolver } from '@causeway/localnet'
import { concatHex, getContractAddress, hashTypedData, hexToBytes, toHex, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callerKey, type OracleTrio, startOracleTrio } from '../apps/oracle/test/support/oracleTrio.ts'
import {
  currencyAddress,
  localRequest,
  nativeAddress,
  type UserChain,
  userOf,
} from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  type SettlementBed,
  solverKey,
  startSettlementBed,
} from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { startSolverBench } from '../apps/solver/test/support/solverBench.ts'
import { create2Proxy } from '../packages/contracts/src/codes.ts'
import { setOwnedDigest, walletCode } from '../packages/localnet/test/fixtures/contractWallets.ts'
import { createPayeeDriver, type FeeOwner, longTest, type PayeeDriver } from './support/payeeDriver.ts'

let bed: SettlementBed
let driver: PayeeDriver
const ends: (() => unknown)[] = []

beforeAll(async () => {
  let trio: OracleTrio | undefined
  const oracle = { post: async (...asked: Parameters<OracleTrio['post']>) => started(trio).post(...asked) }
  ends.push(() => trio?.stop())
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    async oracles(network) {
      trio = await startOracleTrio(network)
      return trio.urls
        .map((url, index) => `${url}|${callerKey}|${network.keys.oracles[index]?.address}`)
        .join(';')
    },
  })
  ends.push(() => bed.stop())
  const bench = await startSolverBench(bed.network)
  ends.push(() => bench.stop())
  const { environment } = await bench.settings({ url: bed.url, apiKey: solverKey })
  const solver = spawnSolver(environment)
  ends.push(async () => {
    solver.kill('SIGKILL')
    await solver.ended
  })
  await solver.ready()
  driver = createPayeeDriver({ ...bed, oracle })
}, 480_000)
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

function started(trio: OracleTrio | undefined): OracleTrio {
  if (trio === undefined) throw new Error('no oracles')
  return trio
}

const freshAddress = (): Hex => privateKeyToAddress(generatePrivateKey())

const chainOf = (chain: UserChain) => bed.network.chains[chain].chain
const relayer = () => userOf(bed.network, 1)

/** `runtime` as code that creation leaves. */
const creationOf = (runtime: Hex): Hex => {
  const size = toHex(runtime.length / 2 - 1, { size: 1 })
  return concatHex(['0x60', size, '0x8060095f395ff3', runtime])
}
const addressOf = (salt: Hex, runtime: Hex): Hex =>
  getContractAddress({ opcode: 'CREATE2', from: create2Proxy, salt, bytecode: creationOf(runtime) })
const create = (chain: UserChain, salt: Hex, runtime: Hex) =>
  driver.inTurn(() =>
    chainOf(chain).send(relayer(), [
      { what: 'a contract', to: create2Proxy, data: concatHex([salt, creationOf(runtime)]) },
    ]),
  )
const created = (runtime: Hex) => async (chain: UserChain) => {
  const salt = generatePrivateKey()
  await create(chain, salt, runtime)
  return { account: addressOf(salt, runtime) }
}

/** By a transaction of somebody else. @source EIP-7702 */
async function delegated(chain: UserChain) {
  const key = generatePrivateKey()
  const owner = privateKeyToAccount(key)
  const { client } = chainOf(chain)
  const sender = privateKeyToAccount(relayer().privateKey)
  const { chainId } = bed.network.chains[chain]
  const authorization = await owner.signAuthorization({ address: caliburAddress, chainId, nonce: 0 })
  await driver.inTurn(async () => {
    const serializedTransaction = await sender.signTransaction({
      type: 'eip7702',
      chainId,
      to: owner.address,
      gas: 200_000n,
      authorizationList: [authorization],
      nonce: await client.getTransactionCount({ address: sender.address, blockTag: 'pending' }),
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 0n,
    })
    await client.waitForTransactionReceipt({
      hash: await client.sendRawTransaction({ serializedTransaction }),
    })
  })
  expect(await client.getCode({ address: owner.address })).toBe(concatHex(['0xef0100', caliburAddress]))
  return { account: owner.address, key }
}

type Placed = { readonly account: Hex; appear?(): Promise<unknown> }
// The packages with the published code of Safes are LGPL; the proxy here takes coin as they do.
const kinds: readonly (readonly [string, (chain: UserChain) => Promise<Placed>])[] = [
  ['a plain account', async () => ({ account: freshAddress() })],
  ['a wallet that delegates', delegated],
  [
    'a Safe',
    async (chain) => {
      await chainOf(chain).node.setCode(safeCode)
      return created(safeProxy)(chain)
    },
  ],
  ['a contract that takes 1.7 million gas', created('0x61ffff5b600190038060035700')],
  ['a contract that passes the coin on', created(`0x5f5f5f5f4773${'e1'.repeat(20)}5af100`)],
  [
    'an account whose code comes after the quote',
    async (chain) => {
      const salt = generatePrivateKey()
      return { account: addressOf(salt, '0x00'), appear: () => create(chain, salt, '0x00') }
    },
  ],
]
const request = (pay: 'USDC' | 'native', receive: 'USDC' | 'native', more: object) =>
  localRequest(bed.network, {
    pay,
    receive,
    amount: pay === 'USDC' ? 200_000_000n : 10n ** 17n,
    more,
  })
const filled = async (placed: Placed, body: object) => {
  const quote = await driver.quoteOf(body)
  await placed.appear?.()
  await driver.inTurn(() => bed.requests.execute(quote))
  await driver.fills(quote)
}
const ways: readonly (readonly [string, UserChain, (placed: Placed) => Promise<void>])[] = [
  [
    'coin as output',
    'optimism',
    (placed) => filled(placed, request('USDC', 'native', { recipient: placed.account })),
  ],
  [
    'a token and a top-up',
    'optimism',
    (placed) => filled(placed, request('USDC', 'USDC', { recipient: placed.account, topupGas: true })),
  ],
  [
    'a refund of coin',
    'base',
    async (placed) => {
      const quote = await driver.quoteOf(request('native', 'USDC', { refundTo: placed.account }))
      await placed.appear?.()
      await driver.inTurn(() => bed.requests.deposit(quote, { token: nativeAddress, amount: 10n ** 16n }))
      await driver.refunds(quote, 'base')
    },
  ],
  [
    'a refund of coin that no account was named for',
    'base',
    async (placed) => {
      const quote = await driver.quoteOf(request('native', 'USDC', { recipient: placed.account }))
      const refunds = quote.protocol?.v2.orderData.inputs[0]?.refunds.map(({ recipient }) =>
        recipient.toLowerCase(),
      )
      expect(refunds).toEqual([placed.account.toLowerCase(), bed.requests.user.address.toLowerCase()])
      await placed.appear?.()
      await driver.inTurn(() => bed.requests.deposit(quote, { token: nativeAddress, amount: 10n ** 16n }))
      await driver.refunds(quote, 'base')
    },
  ],
  [
    'a claim of coin',
    'base',
    async ({ account, appear }) => {
      await appear?.()
      const { chainId } = bed.network.chains.base
      await driver.claims({ chainId, address: zeroAddress, symbol: 'ETH', decimals: 18 }, 10n ** 16n, account)
    },
  ],
]
test.concurrent.each(
  kinds.flatMap(([kind, place]) => ways.map((way) => [kind, way[0], place, way] as const)),
)(
  'Q-69: %s is paid %s, and that is attested',
  async (_kind, _way, place, [, chain, pay]) => pay(await place(chain)),
  longTest,
)

test.concurrent(
  'Q-69: a contract without receive is refused coin by name, and paid a token',
  async () => {
    const { account: recipient } = await created('0x5f5ffd')('optimism')
    await driver.refused('recipient', request('USDC', 'native', { recipient }))
    await filled({ account: recipient }, request('USDC', 'USDC', { recipient }))
  },
  longTest,
)

const owners: readonly (readonly [string, () => Promise<FeeOwner>])[] = [
  ['a plain account', async () => privateKeyToAccount(generatePrivateKey())],
  ['a wallet that delegates', async () => privateKeyToAccount((await delegated('base')).key)],
  [
    'a contract wallet',
    async () => {
      const [address, { url }] = [freshAddress(), bed.network.chains.base]
      await chainOf('base').node.setCode({ address, bytecode: walletCode.owned })
      return {
        address,
        async signTypedData(typedData) {
          await setOwnedDigest(url, address, hexToBytes(hashTypedData(typedData)))
          return '0x1234'
        },
      }
    },
  ],
]
test.concurrent.each(owners)(
  'Q-69: app fees for %s are left by a fill, and paid to it by its claim',
  async (_kind, place) => {
    const owner = await place()
    const { chainId } = bed.network.chains.base
    const appFees = [{ recipient: owner.address, fee: '1000' }]
    await filled({ account: freshAddress() }, request('USDC', 'USDC', { appFees }))
    const currency = currencyAddress(bed.network, 'base', 'USDC')
    await driver.claimsOf(owner, { chainId, currency, recipient: owner.address })
  },
  longTest,
)
