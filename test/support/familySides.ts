// One chain of each quoted family around the real service, as its users and a solver use it: the two tests that go
// through all pairs of families read the same table.
import { type Hex, tronHexAddress } from '@causeway/core'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { keyOf } from '@causeway/localnet/standIns/bitcoin'
import { erc20Abi } from 'viem'
import { expect } from 'vitest'
import type { QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import type { OpenWork } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import {
  type BitcoinChain,
  bitcoin,
  bitcoinChainId,
  fundedUser as fundedBitcoinUser,
  payOnBitcoin,
  psbtOf,
  sendPsbt,
  startBitcoinChain,
} from './bitcoinSettling.ts'
import {
  depositOnHyperliquid,
  fundedHyperliquidUser,
  type HyperliquidChain,
  hyperliquidChainId,
  payOnHyperliquid,
  perps,
  startHyperliquidChain,
} from './hyperliquidSettling.ts'
import {
  depositOnLighter,
  fundedLighterUser,
  type LighterChain,
  lighterChainId,
  payOnLighter,
  perpsDollars,
  startLighterChain,
} from './lighterSettling.ts'
import { sol, solanaChainId } from './solanaService.ts'
import { instructionsOf, payOnSolana, type SolanaSettling, startSolanaSettling } from './solanaSettling.ts'
import {
  executeQuote,
  fundedUser as fundedTronUser,
  payOnTron,
  startTronChain,
  type TronChain,
  tronChainId,
  tronUserOf,
  trx,
} from './tronSettling.ts'

/** The service with its jobs and PostgreSQL over two EVM chains and a chain of every other family. */
export type SixFamilies = {
  readonly at: SolanaSettling
  readonly btc: BitcoinChain
  readonly tron: TronChain
  readonly lighter: LighterChain
  readonly hyperliquid: HyperliquidChain
  /** Who is paid on Lighter, where no payment makes an account. */
  readonly lighterRecipient: string
  stop(): Promise<void>
}

export async function startSixFamilies(): Promise<SixFamilies> {
  const [btc, tron, lighter] = await Promise.all([
    startBitcoinChain(true),
    startTronChain(true),
    startLighterChain(true),
  ])
  const lighterRecipient = fundedLighterUser(lighter).account
  // Its hub says what nonces on Hyperliquid are for.
  const hub = await startTestNetwork({ blockTimeSeconds: 1 })
  const hyperliquid = await startHyperliquidChain(hub, true)
  const chains = [btc, tron, lighter, hyperliquid]
  const at = await startSolanaSettling({
    describe: (file) => chains.reduce((described, chain) => chain.describe(described), file),
    overrides: Object.assign({}, ...chains.map(({ variables }) => variables)),
    oracleKeys: hub.keys.oracles.map(({ privateKey }) => privateKey),
  })
  return {
    ...{ at, btc, tron, lighter, hyperliquid, lighterRecipient },
    async stop() {
      await at.stop()
      await Promise.all([btc.stop(), tron.stop(), lighter.stop(), hyperliquid.stop(), hub.stop()])
    },
  }
}

export const families = ['EVM', 'Solana', 'Bitcoin', 'Tron', 'Lighter', 'Hyperliquid'] as const
export type Family = (typeof families)[number]

/** A chain of one family, as its users and a solver use it. */
export type Side = {
  /** Worth some two hundred dollars, so that the fees of no pair eat it up. */
  origin(): { chainId: number; currency: string; amount: string }
  destination(): { chainId: number; currency: string; amount: string }
  recipient(): string
  /** What the recipient has of it. */
  held(): Promise<bigint>
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
    ...{ address: address as Hex, abi: erc20Abi, functionName: 'balanceOf', args: [holder as Hex] },
  })

/** Nobody was ever there: whoever pays him first pays for his account. */
const hyperliquidRecipient = `0x${'c4'.repeat(20)}`

export function sidesOf({ at, btc, tron, lighter, hyperliquid, lighterRecipient }: SixFamilies): Sides {
  const token = (chain: 'base' | 'optimism') => currencyAddress(at.solana.network, chain, 'USDC')

  async function report(item: OpenWork, transaction: string): Promise<void> {
    expect((await at.requests.solver.report(item.id, transaction)).status).toBe(200)
  }

  const sides: Sides = {
    EVM: {
      origin: () => ({ chainId: 8453, currency: token('base'), amount: '200000000' }),
      destination: () => ({ chainId: 10, currency: token('optimism'), amount: '200000000' }),
      recipient: () => userOf(at.solana.network, 1).address,
      held: () =>
        tokensOf(at.solana.network.chains.optimism.chain.client, token('optimism'), sides.EVM.recipient()),
      wallet: async () => ({
        user: at.requests.user.address,
        deposit: (quote) => at.requests.execute(quote),
      }),
      pay: (item) => at.requests.solver.carryOut(item),
    },
    Solana: {
      origin: () => ({
        chainId: solanaChainId,
        currency: at.solana.bed.mint.toBase58(),
        amount: '200000000',
      }),
      destination: () => ({ chainId: solanaChainId, currency: sol, amount: '1000000000' }),
      recipient: () => at.solana.bed.recipient.toBase58(),
      async held() {
        const params = [sides.Solana.recipient(), { commitment: 'processed' }]
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBalance', params })
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(at.solana.bed.url, { method: 'POST', headers, body })
        return BigInt(Object(await answer.json()).result.value)
      },
      wallet: async () => ({
        user: at.solana.bed.user.publicKey.toBase58(),
        deposit: (quote) => at.solana.bed.send(instructionsOf(quote)),
      }),
      pay: async (item) => report(item, await payOnSolana(at, item)),
    },
    Bitcoin: {
      origin: () => ({ chainId: bitcoinChainId, currency: bitcoin, amount: '8000000' }),
      destination: () => ({ chainId: bitcoinChainId, currency: bitcoin, amount: '6000000' }),
      recipient: () => keyOf('recipient').witness.address,
      held: async () =>
        btc.chain.unspentOf(keyOf('recipient').witness.script).reduce((sum, { value }) => sum + value, 0n),
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
      recipient: () => tronUserOf(`0x${'9c'.repeat(32)}`).address,
      held: () =>
        tokensOf(
          tron.evm.network.chains.base.chain.client,
          tron.evm.deployment.tokens.USDC,
          tronHexAddress(sides.Tron.recipient()),
        ),
      async wallet() {
        const user = await fundedTronUser(tron)
        return { user: user.address, deposit: (quote) => executeQuote(tron, quote, user) }
      },
      pay: async (item) => report(item, await payOnTron(tron, item)),
    },
    Lighter: {
      origin: () => ({ chainId: lighterChainId, currency: perpsDollars, amount: '200000000' }),
      destination: () => ({ chainId: lighterChainId, currency: perpsDollars, amount: '200000000' }),
      recipient: () => lighterRecipient,
      held: async () => lighter.exchange.accounts.get(lighterRecipient)?.held.get(perpsDollars) ?? 0n,
      async wallet() {
        const user = fundedLighterUser(lighter)
        return { user: user.account, deposit: (quote) => depositOnLighter(lighter, quote, user) }
      },
      pay: async (item) => report(item, await payOnLighter(lighter, item)),
    },
    Hyperliquid: {
      origin: () => ({ chainId: hyperliquidChainId, currency: perps, amount: '20000000000' }),
      destination: () => ({ chainId: hyperliquidChainId, currency: perps, amount: '20000000000' }),
      recipient: () => hyperliquidRecipient,
      held: async () => hyperliquid.venue.held(hyperliquidRecipient, ''),
      async wallet() {
        const user = fundedHyperliquidUser(hyperliquid)
        const deposit = (quote: QuoteAnswer) => depositOnHyperliquid(hyperliquid, at.solana.url, quote, user)
        return { user: user.account, deposit }
      },
      pay: async (item) => report(item, await payOnHyperliquid(hyperliquid, item)),
    },
  }
  return sides
}

export async function requestOf(
  sides: Sides,
  [from, to]: readonly [Family, Family],
  tradeType = 'EXACT_INPUT',
) {
  const [origin, destination] = [sides[from].origin(), sides[to].destination()]
  const { user, deposit } = await sides[from].wallet()
  const body = {
    ...{ user, recipient: sides[to].recipient(), tradeType },
    ...{ originChainId: origin.chainId, originCurrency: origin.currency },
    ...{ destinationChainId: destination.chainId, destinationCurrency: destination.currency },
    amount: tradeType === 'EXACT_INPUT' ? origin.amount : destination.amount,
    // What a family's users would do alone, nobody follows; the solver does it for them.
    ...(from === to && from !== 'EVM' && { forceSolverExecution: true }),
  }
  return { body, deposit }
}
