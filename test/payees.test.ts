// Goal: whoever a request names is refused by name, or is paid by the shipped solver and attested by the oracles: there is
// no third outcome. Attackers: a payee who is quoted and then cannot be paid, so that money stands still. Method: the
// service, its solver and two oracles in processes of their own over six families. Payees on EVM chains are in
// `evmPayees.test.ts`, and what no chain has to be asked about is in `payeeTable.test.ts`.
import { type Hex, token2022Program, tronHexAddress } from '@causeway/core'
import { createTokenAccount, depositToken, mintTo, tokenAccount } from '@causeway/localnet/standIns/solana'
import { confidential, type Holder, placeTokenHolder } from '@causeway/localnet/wallets'
import { Keypair, PublicKey } from '@solana/web3.js'
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
import { tronChainId, tronUserOf, trx } from './support/tronSettling.ts'

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
          ...{ address, symbol: 'WETH', name: 'Wrapped Ether', decimals: 9, asset: 'eth' },
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
  const node = () => at.chains.solana.bed.node
  const wallet = (holder?: Holder): string => {
    const of = Keypair.generate().publicKey
    node().airdrop(of.toBase58(), 10n ** 9n)
    if (holder !== undefined) placeTokenHolder(node(), { mint, of, ...holder })
    return of.toBase58()
  }
  const asset = () => ({ chainId: solanaChainId, address: mint.toBase58(), symbol: 'WETH', decimals: 9 })

  const payable: readonly (readonly [string, () => string])[] = [
    ['a wallet without an account of the token', () => wallet()],
    ['a wallet with one', () => wallet({})],
    ['an account that demands a memo', () => wallet({ extension: [8, Buffer.of(1)] })],
    ['an account that is guarded', () => wallet({ extension: [11, Buffer.of(1)] })],
    ['an account that takes confidential and open transfers', () => wallet(confidential(true))],
  ]
  test.concurrent.each(payable)('Q-69: %s is paid, and that is attested', async (_kind, payee) => {
    await filledFromBase(solanaChainId, mint.toBase58(), payee())
  })
  test.concurrent.each(payable.slice(1))('Q-69: %s is paid a claim', async (_kind, payee) => {
    await driver.claims(asset(), 10n ** 7n, payee())
  })

  test.concurrent.each(payable.slice(1))(
    'Q-69: %s is refunded, and that is attested',
    async (_kind, payee) => {
      const { user, depository, send } = at.chains.solana.bed
      const [sender, refundTo] = [user.publicKey, payee()]
      const quote = await driver.inTurn(async () => {
        const to = tokenAccount(sender, mint, token2022Program)
        const account = { owner: sender, mint, program: token2022Program }
        await send([
          createTokenAccount({ payer: sender, ...account }),
          mintTo({ ...account, to, authority: sender, amount: 10n ** 8n }),
        ])
        const { chainId, currency } = sides.EVM.destination()
        const asked = await driver.quoteOf({
          ...{ user: sender.toBase58(), refundTo, recipient: freshAddress(), tradeType: 'EXACT_INPUT' },
          ...{ originChainId: solanaChainId, originCurrency: mint.toBase58(), amount: `${10n ** 8n}` },
          ...{ destinationChainId: chainId, destinationCurrency: currency },
        })
        const short = { sender, amount: 5n * 10n ** 7n, id: orderIdOf(asked), mint }
        await send([depositToken(depository, { ...short, program: token2022Program })])
        return asked
      })
      await driver.refunds(quote, 'solana')
    },
  )

  test.concurrent('Q-69: a wallet that is not there is paid coin, and that is attested', () =>
    filledFromBase(solanaChainId, sol, Keypair.generate().publicKey.toBase58()))

  const unpayable: readonly (readonly [string, () => string])[] = [
    ['a frozen account', () => wallet({ state: 2 })],
    ['an account that was handed on', () => wallet({ owner: Keypair.generate().publicKey })],
    ['an account that takes confidential transfers alone', () => wallet(confidential(false))],
    [
      'an account of a program',
      () => PublicKey.findProgramAddressSync([Buffer.from('payee')], mint)[0].toBase58(),
    ],
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
  const stranger = () => tronUserOf(generatePrivateKey()).address
  const withCode = async (bytecode: Hex): Promise<string> => {
    const account = stranger()
    await at.chains.tron.evm.node('anvil_setCode', [tronHexAddress(account), bytecode])
    return account
  }
  const kinds: readonly (readonly [string, () => Promise<string>])[] = [
    ['an account that is not there', async () => stranger()],
    ['a contract that passes the coin on', () => withCode(`0x5f5f5f5f4773${'e1'.repeat(20)}5af100`)],
  ]
  test.concurrent.each(kinds)(
    'Q-69: %s is paid coin and tokens, and that is attested',
    async (_kind, payee) => {
      const account = await payee()
      await filledFromBase(tronChainId, trx, account)
      await filledFromBase(tronChainId, at.chains.tron.usdc, account)
    },
  )
  test.concurrent.each(kinds)('Q-69: %s is paid a claim', async (_kind, payee) => {
    const asset = { chainId: tronChainId, address: trx, symbol: 'TRX', decimals: 6 }
    await driver.claims(asset, 10n ** 8n, await payee())
  })
  test.concurrent.each(kinds)('Q-69: %s is refunded, and that is attested', async (_kind, payee) => {
    const refundTo = await payee()
    const { chainId, currency } = sides.EVM.destination()
    const quote = await driver.inTurn(async () => {
      const { user, deposit } = await shortDepositsOf(at, sides).Tron()
      const asked = await driver.quoteOf({
        ...{ user, refundTo, recipient: freshAddress(), tradeType: 'EXACT_INPUT' },
        ...{ originChainId: tronChainId, originCurrency: trx, amount: '200000000' },
        ...{ destinationChainId: chainId, destinationCurrency: currency },
      })
      await deposit(asked)
      return asked
    })
    await driver.refunds(quote, 'tron')
  })
  test.concurrent('Q-69: a contract that refuses coin is refused by name', async () => {
    await driver.refused('recipient', fromBase(tronChainId, trx, await withCode('0x5f5ffd')))
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
