// Goal: whoever a request names is refused by name, or is paid by the shipped solver and attested by the oracles: there is
// no third outcome. Attackers: a payee who is quoted and then cannot be paid, so that money stands still. Method: the
// service, its solver and two oracles in processes of their own over six families. Payees on EVM chains are in
// `evmPayees.test.ts`, and what no chain has to be asked about is in `payeeTable.test.ts`.
import type { Hex } from '@causeway/core'
import { tronAddress } from '@causeway/core/encodings'
import { token2022Program } from '@causeway/families/rules'
import { createTokenAccount, depositToken, mintTo, tokenAccount } from '@causeway/localnet/standIns/solana'
import {
  isSolanaWalletName,
  placeEvmWallet,
  placeSolanaWallet,
  type SolanaWallet,
  type SolanaWalletName,
  solanaWallets,
  type TronWalletName,
} from '@causeway/localnet/wallets'
import { Keypair } from '@solana/web3.js'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { localRequest } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { orderIdOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { requestOf, type Sides, sidesOf } from './support/familySides.ts'
import { type FamilySolving, startFamilySolving } from './support/familySolver.ts'
import { createPayeeDriver, longTest, type PayeeDriver } from './support/payeeDriver.ts'
import { createWeth } from './support/receivedBed.ts'
import { shortDepositsOf } from './support/shortDeposits.ts'
import { sol, solanaChainId } from './support/solanaService.ts'
import { tronChainId, trx } from './support/tronSettling.ts'

const weth = Keypair.generate()
let bed: FamilySolving
let at: FamilySolving['six']
let sides: Sides
let driver: PayeeDriver

beforeAll(async () => {
  bed = await startFamilySolving({
    async moreCurrencies(cluster, wallet) {
      await createWeth(cluster, weth, wallet.publicKey)
      const address = weth.publicKey.toBase58()
      return [
        {
          address,
          symbol: 'WETH',
          name: 'Wrapped Ether',
          decimals: 9,
          asset: 'eth',
          tokenProgram: token2022Program,
        },
      ]
    },
  })
  at = bed.six
  sides = sidesOf(at)
  driver = createPayeeDriver({ ...at, oracle: bed.oracle })
  await bed.startSolver().ready()
}, 480_000)
afterAll(() => bed?.stop())

const freshAddress = (): Hex => privateKeyToAddress(generatePrivateKey())

/** From dollars on base to a currency elsewhere. */
const fromBase = (destinationChainId: number, destinationCurrency: string, recipient: string) =>
  localRequest(at.chains.network, {
    amount: 200_000_000n,
    more: { destinationChainId, destinationCurrency, recipient, refundTo: at.requests.user.address },
  })

async function filledFromBase(...asked: Parameters<typeof fromBase>): Promise<void> {
  const quote = await driver.quoteOf(fromBase(...asked))
  await driver.inTurn(() => at.requests.execute(quote))
  await driver.fills(quote)
}

describe('Solana', { timeout: longTest }, () => {
  const { publicKey: mint } = weth
  const wallet = (name: SolanaWalletName) => placeSolanaWallet(at.chains.solana.bed.node, name, { mint })
  const asset = () => ({ chainId: solanaChainId, address: mint.toBase58(), symbol: 'WETH', decimals: 9 })

  const names = Object.keys(solanaWallets).filter(isSolanaWalletName)
  const may = (what: 'cannotBePaid' | 'cannotBeRefunded') =>
    names.filter((name) => {
      const kind: SolanaWallet = solanaWallets[name]
      return (kind[what] ?? kind.cannotBePaid)?.includes('token') !== true
    })
  test.concurrent.each(may('cannotBePaid'))('Q-69: %s is paid, and that is attested', async (name) => {
    await filledFromBase(solanaChainId, mint.toBase58(), wallet(name))
  })
  const refundable = may('cannotBeRefunded')
  test.concurrent.each(refundable)('Q-69: %s is paid a claim', async (name) => {
    await driver.claims(asset(), 10n ** 7n, wallet(name))
  })

  test.concurrent.each(refundable)('Q-69: %s is refunded, and that is attested', async (name) => {
    const { user, depository, send } = at.chains.solana.bed
    const [sender, refundTo] = [user.publicKey, wallet(name)]
    const quote = await driver.inTurn(async () => {
      const to = tokenAccount(sender, mint, token2022Program)
      const account = { owner: sender, mint, program: token2022Program }
      await send([
        createTokenAccount({ payer: sender, ...account }),
        mintTo({ ...account, to, authority: sender, amount: 10n ** 8n }),
      ])
      const { chainId, currency } = sides.EVM.destination()
      const asked = await driver.quoteOf({
        user: sender.toBase58(),
        refundTo,
        recipient: freshAddress(),
        tradeType: 'EXACT_INPUT',
        originChainId: solanaChainId,
        originCurrency: mint.toBase58(),
        amount: `${10n ** 8n}`,
        destinationChainId: chainId,
        destinationCurrency: currency,
      })
      const short = { sender, amount: 5n * 10n ** 7n, id: orderIdOf(asked), mint }
      await send([depositToken(depository, { ...short, program: token2022Program })])
      return asked
    })
    await driver.refunds(quote, 'solana')
  })

  test.concurrent('Q-69: a wallet that is not there is paid coin, and that is attested', () =>
    filledFromBase(solanaChainId, sol, Keypair.generate().publicKey.toBase58()))

  const unpayable: readonly (readonly [string, () => string])[] = [
    ...names
      .filter((name) => !may('cannotBePaid').includes(name))
      .map((name) => [name, () => wallet(name)] as const),
    ['a sysvar', () => 'SysvarC1ock11111111111111111111111111111111'],
    ['the mint', () => mint.toBase58()],
    ['the depository', () => at.chains.solana.bed.depository.program.toBase58()],
    ['the fill wallet', () => at.chains.solana.solver.publicKey.toBase58()],
  ]
  test.concurrent.each(unpayable)('Q-69: %s is refused by name', async (_kind, payee) => {
    await driver.refused('recipient', fromBase(solanaChainId, mint.toBase58(), payee()))
  })
})

describe('Tron', { timeout: longTest }, () => {
  const wallet = async (name: TronWalletName) => {
    const { network, deployment } = at.chains.tron.evm
    return tronAddress(await placeEvmWallet(network.chains.base.chain, name, deployment.tokens.USDC))
  }
  const kinds: readonly TronWalletName[] = ['plain', 'forwarder']
  test.concurrent.each(kinds)('Q-69: %s is paid coin and tokens, and that is attested', async (name) => {
    const account = await wallet(name)
    await filledFromBase(tronChainId, trx, account)
    await filledFromBase(tronChainId, at.chains.tron.usdc, account)
  })
  test.concurrent.each(kinds)('Q-69: %s is paid a claim', async (name) => {
    const asset = { chainId: tronChainId, address: trx, symbol: 'TRX', decimals: 6 }
    await driver.claims(asset, 10n ** 8n, await wallet(name))
  })
  test.concurrent.each(kinds)('Q-69: %s is refunded, and that is attested', async (name) => {
    const refundTo = await wallet(name)
    const { chainId, currency } = sides.EVM.destination()
    const quote = await driver.inTurn(async () => {
      const { user, deposit } = await shortDepositsOf(at, sides).Tron()
      const asked = await driver.quoteOf({
        user,
        refundTo,
        recipient: freshAddress(),
        tradeType: 'EXACT_INPUT',
        originChainId: tronChainId,
        originCurrency: trx,
        amount: '200000000',
        destinationChainId: chainId,
        destinationCurrency: currency,
      })
      await deposit(asked)
      return asked
    })
    await driver.refunds(quote, 'tron')
  })
  test.concurrent('Q-69: a contract that refuses coin is refused by name', async () => {
    await driver.refused('recipient', fromBase(tronChainId, trx, await wallet('without-receive')))
  })
})

describe('where no code runs', { timeout: longTest }, () => {
  test.concurrent.each(['Bitcoin', 'Lighter', 'Hyperliquid'] as const)(
    'Q-69: a payee on %s is paid, and that is attested',
    async (family) => {
      const { body, deposit } = await requestOf(sides, ['EVM', family])
      const quote = await driver.quoteOf(body)
      await driver.inTurn(async () => deposit(quote))
      await driver.fills(quote)
    },
  )

  test.concurrent('Q-69: an account of Lighter that nobody opened is refused by name', async () => {
    const { chainId, currency } = sides.Lighter.destination()
    await driver.refused('recipient', fromBase(chainId, currency, '999999999'))
  })
})
