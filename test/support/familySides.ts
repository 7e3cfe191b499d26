// One chain of each quoted family around the real service, as its users and a solver use it: the two tests that go
// through all pairs of families read the same table.
import type { Hex } from '@causeway/core'
import { tronHexAddress } from '@causeway/core/encodings'
import { solanaLibrary } from '@causeway/families/rules'
import type { TestNetwork } from '@causeway/localnet'
import { keyOf } from '@causeway/localnet/standIns/bitcoin'
import { erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect } from 'vitest'
import type { QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import type { OpenWork } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import {
  bitcoin,
  bitcoinChainId,
  fundedUser as fundedBitcoinUser,
  heldOnBitcoin,
  payOnBitcoin,
  psbtOf,
  sendPsbt,
} from './bitcoinSettling.ts'
import {
  depositOnHyperliquid,
  fundedHyperliquidUser,
  hyperliquidChainId,
  payOnHyperliquid,
  perps,
} from './hyperliquidSettling.ts'
import {
  depositOnLighter,
  emptyLighterAccount,
  fundedLighterUser,
  heldOnLighter,
  lighterChainId,
  payOnLighter,
  perpsDollars,
} from './lighterSettling.ts'
import type { SixFamilies } from './sixFamilies.ts'
import { sol, solanaChainId } from './solanaService.ts'
import { instructionsOf, payOnSolana } from './solanaSettling.ts'
import {
  executeQuote,
  fundedUser as fundedTronUser,
  payOnTron,
  tronChainId,
  tronUserOf,
  trx,
} from './tronSettling.ts'

export const families = ['EVM', 'Solana', 'Bitcoin', 'Tron', 'Lighter', 'Hyperliquid'] as const
export type Family = (typeof families)[number]

export type Payee = { readonly recipient: string; held(): Promise<bigint> }

/** A chain of one family, as its users and a solver use it. */
export type Side = {
  /** Worth some two hundred dollars, so that the fees of no pair eat it up. */
  origin(): { chainId: number; currency: string; amount: string }
  destination(): { chainId: number; currency: string; amount: string }
  /** Somebody who has none of it yet: what he has later is what one order paid him. */
  payee(): Payee
  /** Somebody who holds it, and what he does with a quote. */
  wallet(): Promise<{ user: string; deposit(quote: QuoteAnswer): Promise<unknown> }>
  /** @returns after the service was told of it */
  pay(item: OpenWork): Promise<unknown>
}

export type Sides = Readonly<Record<Family, Side>>

const tokensOf = (
  client: TestNetwork['chains']['base']['chain']['client'],
  address: string,
  holder: string,
) =>
  client.readContract({
    // CAST: both are addresses of an EVM chain.
    address: address as Hex,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder as Hex],
  })

/** Nobody was ever there: on Hyperliquid whoever pays him first pays for his account. */
const freshAddress = (): Hex => privateKeyToAddress(generatePrivateKey())

let payees = 0

export function sidesOf({ chains, url, requests }: SixFamilies): Sides {
  const { network, solana, btc, tron, lighter, hyperliquid } = chains
  const token = (chain: 'base' | 'optimism') => currencyAddress(network, chain, 'USDC')

  async function report(item: OpenWork, transaction: string): Promise<void> {
    expect((await requests.solver.report(item.id, transaction)).status).toBe(200)
  }

  return {
    EVM: {
      origin: () => ({ chainId: 8453, currency: token('base'), amount: '200000000' }),
      destination: () => ({ chainId: 10, currency: token('optimism'), amount: '200000000' }),
      payee() {
        const [recipient, { client }] = [freshAddress(), network.chains.optimism.chain]
        return { recipient, held: () => tokensOf(client, token('optimism'), recipient) }
      },
      wallet: async () => ({
        user: requests.user.address,
        deposit: (quote) => requests.execute(quote),
      }),
      pay: (item) => requests.solver.carryOut(item),
    },
    Solana: {
      origin: () => ({
        chainId: solanaChainId,
        currency: solana.bed.mint.toBase58(),
        amount: '200000000',
      }),
      destination: () => ({ chainId: solanaChainId, currency: sol, amount: '1000000000' }),
      payee() {
        const recipient = solanaLibrary().Keypair.generate().publicKey.toBase58()
        const held = async () => solana.bed.node.account(recipient, 'processed')?.lamports ?? 0n
        return { recipient, held }
      },
      wallet: async () => ({
        user: solana.bed.user.publicKey.toBase58(),
        deposit: (quote) => solana.bed.send(instructionsOf(quote)),
      }),
      pay: async (item) => report(item, await payOnSolana({ solana, solver: solana.solver }, item)),
    },
    Bitcoin: {
      origin: () => ({ chainId: bitcoinChainId, currency: bitcoin, amount: '8000000' }),
      destination: () => ({ chainId: bitcoinChainId, currency: bitcoin, amount: '6000000' }),
      payee() {
        payees += 1
        const { address: recipient, script } = keyOf(`payee ${payees}`).witness
        return { recipient, held: async () => heldOnBitcoin(btc, script) }
      },
      async wallet() {
        const user = fundedBitcoinUser(btc, [50_000_000n])
        const deposit = async (quote: QuoteAnswer) => {
          await sendPsbt(btc, psbtOf(quote), user)
          btc.chain.mineWaiting()
        }
        return { user: user.witness.address, deposit }
      },
      async pay(item) {
        await report(item, await payOnBitcoin(btc, item))
        btc.chain.mineWaiting()
      },
    },
    Tron: {
      origin: () => ({ chainId: tronChainId, currency: trx, amount: '200000000' }),
      destination: () => ({ chainId: tronChainId, currency: tron.usdc, amount: '200000000' }),
      payee() {
        const [{ evm }, { address: recipient }] = [tron, tronUserOf(generatePrivateKey())]
        const { client } = evm.network.chains.base.chain
        const held = () => tokensOf(client, evm.deployment.tokens.USDC, tronHexAddress(recipient))
        return { recipient, held }
      },
      async wallet() {
        const user = await fundedTronUser(tron)
        return { user: user.address, deposit: (quote) => executeQuote(tron, quote, user) }
      },
      pay: async (item) => report(item, await payOnTron(tron, item)),
    },
    Lighter: {
      origin: () => ({ chainId: lighterChainId, currency: perpsDollars, amount: '200000000' }),
      destination: () => ({ chainId: lighterChainId, currency: perpsDollars, amount: '200000000' }),
      // No payment makes an account there.
      payee() {
        const recipient = emptyLighterAccount(lighter)
        return { recipient, held: async () => heldOnLighter(lighter, recipient) }
      },
      async wallet() {
        const user = fundedLighterUser(lighter)
        return { user: user.account, deposit: (quote) => depositOnLighter(lighter, quote, user) }
      },
      pay: async (item) => report(item, await payOnLighter(lighter, item)),
    },
    Hyperliquid: {
      origin: () => ({ chainId: hyperliquidChainId, currency: perps, amount: '20000000000' }),
      destination: () => ({ chainId: hyperliquidChainId, currency: perps, amount: '20000000000' }),
      payee() {
        const recipient = freshAddress()
        return { recipient, held: async () => hyperliquid.venue.balanceOf(recipient, '') }
      },
      async wallet() {
        const user = fundedHyperliquidUser(hyperliquid)
        const deposit = (quote: QuoteAnswer) => depositOnHyperliquid(hyperliquid, url, quote, user)
        return { user: user.account, deposit }
      },
      pay: async (item) => report(item, await payOnHyperliquid(hyperliquid, item)),
    },
  }
}

export async function requestOf(
  sides: Sides,
  [from, to]: readonly [Family, Family],
  tradeType = 'EXACT_INPUT',
) {
  const [origin, destination] = [sides[from].origin(), sides[to].destination()]
  const { recipient, held } = sides[to].payee()
  const { user, deposit } = await sides[from].wallet()
  const body = {
    // On a chain that is both origin and destination, the recipient would be refunded, who may have no account for it.
    user,
    refundTo: user,
    recipient,
    tradeType,
    originChainId: origin.chainId,
    originCurrency: origin.currency,
    destinationChainId: destination.chainId,
    destinationCurrency: destination.currency,
    amount: tradeType === 'EXACT_INPUT' ? origin.amount : destination.amount,
    // The solver executes these requests: otherwise the users would, and a family's own transactions are not followed.
    ...(from === to && from !== 'EVM' && { forceSolverExecution: true }),
  }
  return { body, deposit, held }
}
