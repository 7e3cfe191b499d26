import { sha256TextHex } from '@causeway/core'
import { type ExchangeLedger, startExchange } from '../standIns/hyperliquid/index.ts'
import { familyPlans, ownerlessAddress } from './familyPlans.ts'
import { type FamilyStandIn, firstTimeMs } from './standIn.ts'

/** The main network's USDC: readers look for it. */
const usdc = { name: 'USDC', tokenId: '0x6d1e7cde53ba9467b783cb7c530ce054', szDecimals: 8 }

/** Transfers of USDC between perps accounts, behind the API of the exchange. */
export async function openHyperliquid(port: number, depository: string): Promise<FamilyStandIn> {
  const ledger: ExchangeLedger = {
    ...{ transactions: [], tokens: [usdc], accounts: new Set([depository]), recentMax: 1_000 },
  }
  const exchange = await startExchange(ledger, port)
  return {
    url: exchange.url,
    stop: exchange.stop,
    async deposit(amount, depositor) {
      const hash = sha256TextHex(`hyperliquid ${depositor}`)
      // Every transfer has a nonce of its own.
      const timeMs = firstTimeMs + ledger.transactions.length
      ledger.transactions.push({
        ...{ hash, user: ownerlessAddress(depositor), timeMs },
        action: {
          ...{ type: 'UsdSend', hyperliquidChain: 'Mainnet', destination: depository },
          ...{ amount: decimalOf(amount), time: BigInt(timeMs) },
        },
      })
      return { transactionId: hash }
    },
  }
}

/** Units as the exchange writes them. */
function decimalOf(amount: bigint): string {
  const scale = 10n ** BigInt(familyPlans.hyperliquid.decimals)
  const fraction = (amount % scale).toString().padStart(familyPlans.hyperliquid.decimals, '0')
  return `${amount / scale}.${fraction}`
}
