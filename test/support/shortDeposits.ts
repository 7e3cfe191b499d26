// Deposits below the quoted amount from a wallet of each family, and the address of their return.

import { tronHexAddress } from '@causeway/core/encodings'
import { solanaLibrary } from '@causeway/families/rules'
import { createTokenAccount, depositToken, tokenAccount } from '@causeway/localnet/standIns/solana'
import { generatePrivateKey } from 'viem/accounts'
import type { QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { orderIdOf } from '../../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { depositOf, fundedUser as fundedBitcoinUser } from './bitcoinSettling.ts'
import type { Family, Payee, Sides } from './familySides.ts'
import { authorize, fundedHyperliquidUser, transferOnHyperliquid } from './hyperliquidSettling.ts'
import { executeLighterStep, fundedLighterUser, transferStep } from './lighterSettling.ts'
import type { SixFamilies } from './sixFamilies.ts'
import { executeStep, fundedUser as fundedTronUser, stepSchema, tronUserOf } from './tronSettling.ts'

export type ShortDeposit = {
  readonly user: string
  readonly refundTo: string
  /** Amount returned to `refundTo`. */
  returned(): Promise<bigint>
  deposit(quote: QuoteAnswer): Promise<unknown>
}

const backTo = ({ recipient: refundTo, held }: Payee) => ({ refundTo, returned: held })

export function shortDepositsOf(
  { chains: { solana, btc, tron, lighter, hyperliquid }, url }: SixFamilies,
  sides: Sides,
): Readonly<Record<Exclude<Family, 'EVM'>, () => Promise<ShortDeposit>>> {
  return {
    async Solana() {
      const { bed } = solana
      const [{ mint, user }, owner] = [bed, solanaLibrary().Keypair.generate().publicKey]
      // A refund makes no account.
      await bed.send([createTokenAccount({ payer: user.publicKey, owner, mint })])
      return {
        user: user.publicKey.toBase58(),
        refundTo: owner.toBase58(),
        async returned() {
          const { value } = await bed.connection.getTokenAccountBalance(tokenAccount(owner, mint))
          return BigInt(value.amount)
        },
        deposit(quote) {
          const given = { sender: user.publicKey, amount: 100_000_000n, id: orderIdOf(quote), mint }
          return bed.send([depositToken(bed.depository, given)])
        },
      }
    },
    async Bitcoin() {
      const { address } = fundedBitcoinUser(btc, [50_000_000n]).witness
      return {
        ...backTo(sides.Bitcoin.payee()),
        user: address,
        deposit: async (quote) => depositOf(btc, quote, 4_000_000n),
      }
    },
    async Tron() {
      const user = await fundedTronUser(tron)
      const { address: refundTo } = tronUserOf(generatePrivateKey())
      const { client } = tron.evm.network.chains.base.chain
      return {
        user: user.address,
        refundTo,
        returned: () => client.getBalance({ address: tronHexAddress(refundTo) }),
        deposit(quote) {
          const step = stepSchema.parse(quote.steps[0]?.items[0]?.data)
          const parameter = { ...step.parameter, call_value: 100_000_000 }
          return executeStep(tron, { ...step, parameter }, user)
        },
      }
    },
    async Lighter() {
      const user = fundedLighterUser(lighter)
      return {
        ...backTo(sides.Lighter.payee()),
        user: user.account,
        deposit(quote) {
          const { action } = transferStep.parse(quote.steps[0]?.items[0]?.data)
          const parameters = { ...action.parameters, amount: 100_000_000 }
          return executeLighterStep(lighter, { action: { ...action, parameters } }, user)
        },
      }
    },
    async Hyperliquid() {
      // Nobody pays for an account that a refund would need.
      const [user, back] = [fundedHyperliquidUser(hyperliquid), fundedHyperliquidUser(hyperliquid)]
      const before = hyperliquid.venue.balanceOf(back.account, '')
      return {
        user: user.account,
        refundTo: back.account,
        returned: async () => hyperliquid.venue.balanceOf(back.account, '') - before,
        async deposit(quote) {
          const { status } = await authorize(url, quote, user)
          if (status !== 200) throw new Error('it was not authorized')
          const step = Object(quote.steps.at(-1)?.items[0]?.data)
          const parameters = { ...step.action.parameters, amount: '100' }
          const data = { ...step, action: { ...step.action, parameters } }
          return transferOnHyperliquid(hyperliquid, { steps: [{ items: [{ data }] }] }, user)
        },
      }
    },
  }
}
