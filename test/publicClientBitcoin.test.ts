// Goal: the published client with its published Bitcoin wallet bridges from Bitcoin without a change to either.
// Adversaries: none; this is what an honest app does. Method: the packages as npm has them, pointed at the service over anvil
// and a constructed chain. The wallet has one public host to send transactions to, written into its code: requests to it are
// led to a node of ours by the HTTP library that both packages share. The test signs as a browser extension would; a solver
// works by hand; what counts is what the chains hold.
import { bitcoinLibrary } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import type { TestKey } from '@causeway/localnet/standIns/bitcoin'
import { adaptBitcoinWallet } from '@relayprotocol/relay-bitcoin-wallet-adapter'
import { axios, createClient, type Execute, type RelayClient } from '@relayprotocol/relay-sdk'
import { configureDynamicChains } from '@relayprotocol/relay-sdk/chain-utils'
import { erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type BitcoinSettling,
  bitcoin,
  bitcoinChainId,
  fundedUser,
  startBitcoinSettling,
} from './support/bitcoinSettling.ts'

/** Endpoint to which the published wallet sends transactions. */
const publicHost = 'https://mempool.space/api/tx'

let at: BitcoinSettling
let client: RelayClient
let redirected = 0

beforeAll(async () => {
  at = await startBitcoinSettling()
  client = createClient({ baseApiUrl: at.url, source: 'public-client.test', pollingInterval: 250 })
  await configureDynamicChains()
  axios.interceptors.request.use((config) => {
    if (config.url !== publicHost) return config
    redirected += 1
    return { ...config, url: `${at.nodes[0]?.url('esplora')}/tx` }
  })
}, 240_000)
afterAll(() => at?.stop())

const { Psbt } = bitcoinLibrary()

/** Signs what the wallet hands it, as an extension does: in base64, and not finalised. */
function walletOf({ signer, witness }: TestKey) {
  return adaptBitcoinWallet(witness.address, async (_address, _psbt, { unsignedPsbtBase64 }) =>
    Psbt.fromBase64(unsignedPsbtBase64).signAllInputs(signer).toBase64(),
  )
}

const usdc = () => at.network.deployment.base.tokens.USDC

test('Bitcoin is among the chains of the service, as the client knows it', () => {
  const chain = client.chains.find(({ id }) => id === bitcoinChainId)
  expect(chain).toMatchObject({ vmType: 'bvm', currency: { address: bitcoin, symbol: 'BTC', decimals: 8 } })
})

describe('from Bitcoin', () => {
  test('outputs of the user are deposited by the published wallet, and USDC arrives on Base as it was quoted', async () => {
    const user = fundedUser(at, [30_000_000n, 20_000_000n])
    const recipient = privateKeyToAddress(generatePrivateKey())
    const quote = await client.actions.getQuote({
      chainId: bitcoinChainId,
      currency: bitcoin,
      amount: '40000000',
      tradeType: 'EXACT_INPUT',
      toChainId: 8453,
      toCurrency: usdc(),
      user: user.witness.address,
      recipient,
    })
    expect(quote.steps.map(({ id }) => id)).toEqual(['deposit'])
    const sent = redirected
    await Promise.all([client.actions.execute({ quote, wallet: walletOf(user) }), carriedOut(quote)])
    expect(redirected).toBe(sent + 1)
    const held = await at.network.chains.base.chain.client.readContract({
      address: usdc(),
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [recipient],
    })
    expect(held).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
  })
})

/** A block with what was sent, and the fill of it. */
async function carriedOut({ steps }: Execute): Promise<void> {
  const requestId = steps.at(-1)?.requestId
  await waitUntil('its fill is offered', async () => {
    at.chain.mineWaiting()
    const item = (await at.requests.solver.work()).find((one) => one.requestId === requestId)
    if (item === undefined) return false
    await at.requests.solver.carryOut(item)
    return true
  })
}
