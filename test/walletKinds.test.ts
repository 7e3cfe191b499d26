// Goal: an account of each kind that people have is quoted, or refused by name, as payee, for refunds and as payer, as its
// table says. Attackers: a kind of account that is quoted and then cannot be paid, or whose user signs for nothing.
// Method: the service over six families; each account of the tables is made and named in each field, with coin and a token.
import type { Hex } from '@causeway/core'
import { tronAddress } from '@causeway/core/encodings'
import { token2022Program } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import {
  type EvmWallet,
  evmWallets,
  type HyperliquidWallet,
  hyperliquidWallets,
  isEvmWalletName,
  isHyperliquidWalletName,
  isSolanaWalletName,
  type Money,
  placeEvmWallet,
  placeHyperliquidWallet,
  placeSolanaWallet,
  type SolanaWallet,
  solanaWallets,
  tronWallets,
  type WalletKind,
} from '@causeway/localnet/wallets'
import { Keypair } from '@solana/web3.js'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, postPatiently, readError } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, nativeAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { hyperliquidChainId, perps, spotDollars } from './support/hyperliquidSettling.ts'
import { createWeth } from './support/receivedBed.ts'
import {
  type FamilyChains,
  type SixFamilies,
  startFamilyChains,
  startSixFamilies,
} from './support/sixFamilies.ts'
import { sol, solanaChainId } from './support/solanaService.ts'
import { tronChainId, trx } from './support/tronSettling.ts'

const weth = Keypair.generate()
let chains: FamilyChains
let six: SixFamilies
beforeAll(async () => {
  chains = await startFamilyChains({
    async moreCurrencies(cluster, wallet) {
      await createWeth(cluster, weth, wallet.publicKey)
      const address = weth.publicKey.toBase58()
      const asset = { symbol: 'WETH', name: 'Wrapped Ether', decimals: 9, asset: 'eth' }
      return [{ address, ...asset, tokenProgram: token2022Program }]
    },
  })
  six = await startSixFamilies(chains)
}, 480_000)
afterAll(async () => {
  await six?.stop()
  await chains?.stop()
})

const freshAddress = (): Hex => privateKeyToAddress(generatePrivateKey())

type Side = 'origin' | 'destination'
/** Chain of the accounts of a table, with what they pay and are paid there. */
type Place = {
  chainId(side: Side): number
  currency(money: Money, side: Side): string
  /** Some two hundred dollars. */
  readonly amounts: Readonly<Record<Money, bigint>>
  /** An account with a thousand dollars of both, if it can hold them. */
  make(name: string, side: Side): Promise<string>
}

function named<Name extends string>(name: string, isName: (text: string) => text is Name): Name {
  if (!isName(name)) throw new Error(`no table has ${name}`)
  return name
}

/** An account of a chain of contracts. @param coin smallest units that it gets */
async function makeEvm(
  { keys, chains: nodes }: FamilyChains['network'],
  on: 'base' | 'optimism',
  { name, token, coin }: { readonly name: string; readonly token: Hex; readonly coin: bigint },
): Promise<Hex> {
  const { chain } = nodes[on]
  const [rich] = keys.users
  if (rich === undefined) throw new Error('nobody has tokens')
  const account = freshAddress()
  const args = [account, 1_000_000_000n] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await chain.send(rich, [{ what: 'a gift', to: token, data }])
  await chain.node.setBalance({ address: account, value: coin })
  return placeEvmWallet(chain, named(name, isEvmWalletName), token, account)
}

const evmSides = { origin: 'base', destination: 'optimism' } as const
const places: Readonly<Record<string, Place>> = {
  EVM: {
    chainId: (side) => chains.network.chains[evmSides[side]].chainId,
    currency: (money, side) =>
      money === 'coin' ? nativeAddress : currencyAddress(chains.network, evmSides[side], 'USDC'),
    amounts: { coin: 10n ** 17n, token: 200_000_000n },
    make(name, side) {
      const { network } = chains
      const token = network.deployment[evmSides[side]].tokens.USDC
      return makeEvm(network, evmSides[side], { name, token, coin: 10n ** 18n })
    },
  },
  Solana: {
    chainId: () => solanaChainId,
    currency: (money) => (money === 'coin' ? sol : weth.publicKey.toBase58()),
    amounts: { coin: 10n ** 9n, token: 10n ** 8n },
    make: async (name) =>
      placeSolanaWallet(chains.solana.bed.node, named(name, isSolanaWalletName), {
        mint: weth.publicKey,
        amount: 10n ** 9n,
      }),
  },
  Tron: {
    chainId: () => tronChainId,
    currency: (money) => (money === 'coin' ? trx : chains.tron.usdc),
    amounts: { coin: 200_000_000n, token: 200_000_000n },
    async make(name) {
      const { network, deployment } = chains.tron.evm
      const token = deployment.tokens.USDC
      return tronAddress(await makeEvm(network, 'base', { name, token, coin: 10n ** 12n }))
    },
  },
  Hyperliquid: {
    chainId: () => hyperliquidChainId,
    currency: (money) => (money === 'coin' ? perps : spotDollars),
    amounts: { coin: 20_000_000_000n, token: 20_000_000_000n },
    async make(name) {
      const { venue, ledger } = chains.hyperliquid
      const held = { '': 100_000_000_000n, [spotDollars]: 100_000_000_000n }
      return placeHyperliquidWallet(
        { venue, modes: ledger.modes },
        named(name, isHyperliquidWalletName),
        held,
      )
    },
  },
}

type Kind = EvmWallet | SolanaWallet | HyperliquidWallet
const tables: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  EVM: evmWallets,
  Solana: solanaWallets,
  Tron: tronWallets,
  Hyperliquid: hyperliquidWallets,
}

const fields = ['recipient', 'refundTo', 'user'] as const
type Field = (typeof fields)[number]

const refusedIn = (kind: WalletKind): Readonly<Record<Field, readonly Money[]>> => {
  const { cannotBePaid = [], cannotBeRefunded = cannotBePaid, cannotPay = [] } = kind
  return { recipient: cannotBePaid, refundTo: cannotBeRefunded, user: cannotPay }
}

/** A request that names the account in the field alone. */
async function naming(field: Field, account: string, place: Place, money: Money): Promise<object> {
  const { network } = chains
  if (field === 'recipient') {
    const user = userOf(network, 0).address
    return {
      user,
      refundTo: user,
      recipient: account,
      tradeType: 'EXACT_INPUT',
      amount: '200000000',
      originChainId: 8453,
      originCurrency: currencyAddress(network, 'base', 'USDC'),
      destinationChainId: place.chainId('destination'),
      destinationCurrency: place.currency(money, 'destination'),
    }
  }
  const plain = await place.make('plain', 'origin')
  return {
    user: plain,
    refundTo: plain,
    [field]: account,
    recipient: freshAddress(),
    tradeType: 'EXACT_INPUT',
    amount: place.amounts[money].toString(),
    originChainId: place.chainId('origin'),
    originCurrency: place.currency(money, 'origin'),
    destinationChainId: 10,
    destinationCurrency: currencyAddress(network, 'optimism', 'USDC'),
  }
}

const refusals = /^(INVALID_RECIPIENT|RECIPIENT_HAS_CODE|INVALID_ADDRESS|INSUFFICIENT_FUNDS|INVALID_REQUEST)$/

/** Lists of tokens are asked about in `mayBePaid.test.ts` and `tronQuotingChain.test.ts`. */
const elsewhere = 'blocked'

const rows = Object.entries(tables).flatMap(([family, table]) =>
  Object.entries(table)
    .filter(([name]) => name !== elsewhere)
    .map(([name, kind]) => [name, family, kind] as const),
)

test.each(rows)(
  'O-74: an account that is %s on %s is quoted, or refused by name',
  async (name, family, kind) => {
    const place = places[family]
    if (place === undefined) throw new Error(`nobody is on ${family}`)
    for (const field of fields)
      for (const money of ['coin', 'token'] as const) {
        const account = await place.make(name, field === 'recipient' ? 'destination' : 'origin')
        const body = await naming(field, account, place, money)
        const status = refusedIn(kind)[field].includes(money) ? 400 : 200
        let answer: Answer | undefined
        // Accounts are read at the newest block, which may not show them yet.
        await waitUntil(
          `${field} in ${money} is ${status}`,
          async () => {
            answer = await postPatiently(`${six.url}/quote`, body)
            return answer.status === status
          },
          { circumstances: async () => answer?.text ?? '' },
        )
        if (status === 200 || answer === undefined) continue
        const { errorCode, message } = readError(answer)
        expect([errorCode, message]).toEqual([
          expect.stringMatching(refusals),
          expect.stringContaining(field),
        ])
      }
  },
)
