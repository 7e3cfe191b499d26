// Goal: the published client with its published Tron wallet bridges from Tron, and with a wallet of viem to Tron, without
// a change to any. Adversaries: none; this is what an honest app does. Method: the packages as npm has them, pointed at the
// service over anvil and a Tron of stand-ins; the wallet signs with a key of tronweb; a solver works by hand; what counts
// is what the chains hold.
import { tronHexAddress } from '@causeway/core/encodings'
import { waitUntil } from '@causeway/localnet'
import { createClient, type Execute, type RelayClient } from '@relayprotocol/relay-sdk'
import { configureDynamicChains } from '@relayprotocol/relay-sdk/chain-utils'
import { adaptTronWallet } from '@relayprotocol/relay-tron-wallet-adapter'
import { TronWeb } from 'tronweb'
import { createWalletClient, erc20Abi, type Hex, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenWork } from '../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import {
  fundedUser,
  payOnTron,
  startTronSettling,
  type TronSettling,
  type TronUser,
  tronChainId,
  tronUserOf,
  trx,
  unit,
} from './support/tronSettling.ts'

let at: TronSettling
let client: RelayClient

beforeAll(async () => {
  at = await startTronSettling(true)
  client = createClient({ baseApiUrl: at.url, source: 'public-client.test', pollingInterval: 250 })
  await configureDynamicChains()
}, 240_000)
afterAll(() => at?.stop())

function walletOf({ key, address }: TronUser) {
  const tronWeb = new TronWeb({ fullHost: at.nodes[0]?.url ?? '', privateKey: key.slice(2) })
  return adaptTronWallet(address, tronWeb)
}

const usdcOnBase = (holder: Hex) =>
  at.network.chains.base.chain.client.readContract({
    address: at.network.deployment.base.tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

test('Tron is among the chains of the service, as the client knows it', () => {
  const tron = client.chains.find(({ id }) => id === tronChainId)
  expect(tron).toMatchObject({ vmType: 'tvm', currency: { address: trx, symbol: 'TRX', decimals: 6 } })
})

describe('from Tron', () => {
  test.each([
    ['TRX is deposited', ['deposit'], () => trx],
    ['a token is allowed and deposited', ['approve', 'deposit'], () => at.usdc],
  ])(
    '%s by the published wallet, and USDC arrives on Base as it was quoted',
    async (_what, ids, currency) => {
      const user = await fundedUser(at)
      const recipient = privateKeyToAddress(generatePrivateKey())
      const quote = await client.actions.getQuote({
        chainId: tronChainId,
        currency: currency(),
        amount: (2_000n * unit).toString(),
        toChainId: 8453,
        toCurrency: at.network.deployment.base.tokens.USDC,
        user: user.address,
        recipient,
        tradeType: 'EXACT_INPUT',
      })
      expect(quote.steps.map(({ id }) => id)).toEqual(ids)
      const [done] = await Promise.all([
        client.actions.execute({ quote, wallet: walletOf(user) }),
        fillByHand(quote),
      ])
      const items = done.data.steps.flatMap((step) => step.items ?? [])
      expect(items.map(({ status }) => status)).toEqual(ids.map(() => 'complete'))
      expect(await usdcOnBase(recipient)).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
    },
  )
})

test('to Tron a wallet of viem deposits dollars of Base, and TRX arrives as it was quoted', async () => {
  const { address: user, privateKey } = at.requests.user
  const wallet = createWalletClient({
    account: privateKeyToAccount(privateKey),
    chain: base,
    transport: http(at.network.chains.base.url),
  })
  const { address: recipient } = tronUserOf(generatePrivateKey())
  const quote = await client.actions.getQuote({
    chainId: 8453,
    currency: at.network.deployment.base.tokens.USDC,
    amount: (200n * unit).toString(),
    toChainId: tronChainId,
    toCurrency: trx,
    user,
    recipient,
    tradeType: 'EXACT_INPUT',
  })
  const [done] = await Promise.all([client.actions.execute({ quote, wallet }), fillByHand(quote, payThere)])
  const items = done.data.steps.flatMap((step) => step.items ?? [])
  expect(items.map(({ status }) => status)).toEqual(['complete', 'complete'])
  expect(items.at(-1)?.txHashes).toMatchObject([{ chainId: tronChainId }])
  const held = await at.evm.node('eth_getBalance', [tronHexAddress(recipient), 'latest'])
  expect(BigInt(String(held))).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
})

async function payThere(item: OpenWork): Promise<void> {
  const told = await at.requests.solver.report(item.id, await payOnTron(at, item))
  expect(told.status).toBe(200)
}

async function fillByHand(
  { steps }: Execute,
  pay: (item: OpenWork) => Promise<unknown> = (item) => at.requests.solver.carryOut(item),
): Promise<void> {
  const requestId = steps.at(-1)?.requestId
  await waitUntil('its fill is offered', async () => {
    const item = (await at.requests.solver.work()).find((one) => one.requestId === requestId)
    if (item === undefined) return false
    await pay(item)
    return true
  })
}
