import { type Hex, sha256TextHex } from '@causeway/core'
import { z } from 'zod'
import { hexSchema } from '../files/hexSchema.ts'
import { createHyperliquidVenue, type ExchangeLedger, startExchange } from '../standIns/hyperliquid/index.ts'
import {
  hyperliquidWallets,
  isHyperliquidWalletName,
  placeHyperliquidWallet,
} from '../wallets/hyperliquidWallets.ts'
import { familyPlans, ownerlessAddress } from './familyPlans.ts'
import { openJournal } from './journal.ts'
import { type FamilyStandIn, firstTimeMs, requireName, type StandInOptions } from './standIn.ts'

/** USDC as the main network lists it, which readers expect. */
const usdc = { name: 'USDC', tokenId: '0x6d1e7cde53ba9467b783cb7c530ce054', szDecimals: 8 }

/** 1,000 USDC in perps and in spot each, for an account that an operator asks for. */
const walletUnits = 100_000_000_000n

const transferSchema = z.object({
  user: z.string(),
  timeMs: z.number().int(),
  action: z.object({
    type: z.string(),
    signatureChainId: z.string(),
    hyperliquidChain: z.string(),
    destination: z.string(),
    sourceDex: z.string(),
    destinationDex: z.string(),
    token: z.string(),
    amount: z.string(),
    fromSubAccount: z.string(),
    nonce: z.number().int(),
  }),
})
/** A transfer that the exchange took, an account that an operator asked for, or a deposit. */
const entrySchema = z.union([
  z.object({ transfer: transferSchema }),
  z.object({ wallet: z.string(), account: hexSchema(20) }),
  z.object({ depositor: z.string(), units: z.string().regex(/^[0-9]+$/) }),
])

/** Opens the Hyperliquid stand-in: the exchange's API over transfers of USDC, with checks of signatures and balances. */
export async function openHyperliquid({
  port,
  depository,
  funding,
  journalFile,
}: StandInOptions): Promise<FamilyStandIn> {
  const journal = openJournal(journalFile, entrySchema)
  const lists = { transactions: [], tokens: [usdc], accounts: new Set([depository]), recentMax: 1_000 }
  const venue = createHyperliquidVenue(lists, (transfer) => journal.add({ transfer }))
  const ledger = { ...lists, venue, modes: new Map<string, string>() }
  // Balances under '' are those of perps.
  const placeWallet = (text: string, account?: Hex): Hex => {
    const name = requireName(text, isHyperliquidWalletName, hyperliquidWallets)
    return placeHyperliquidWallet(ledger, name, { '': walletUnits, [usdc.tokenId]: walletUnits }, account)
  }
  for (const { account, amount } of funding?.hyperliquid ?? []) venue.fund(account, { '': BigInt(amount) })
  for (const entry of journal.kept) {
    if ('transfer' in entry) venue.execute(entry.transfer)
    else if ('wallet' in entry) placeWallet(entry.wallet, entry.account)
    else listDeposit(ledger, depository, { ...entry, units: BigInt(entry.units) })
  }
  const exchange = await startExchange(ledger, port)
  return {
    url: exchange.url,
    stop: exchange.stop,
    async deposit(units, depositor) {
      const transactionId = depositIdOf(depositor)
      if (!ledger.transactions.some(({ hash }) => hash === transactionId)) {
        listDeposit(ledger, depository, { depositor, units })
        journal.add({ depositor, units: units.toString() })
      }
      return { transactionId }
    },
    async placeWallet(wallet) {
      const account = placeWallet(wallet)
      journal.add({ wallet, account })
      return account
    },
  }
}

const depositIdOf = (depositor: string): Hex => sha256TextHex(`hyperliquid ${depositor}`)

function listDeposit(
  ledger: ExchangeLedger,
  destination: string,
  { depositor, units }: { readonly depositor: string; readonly units: bigint },
): void {
  // The time is the transfer's nonce too, so each transfer has another one.
  const timeMs = firstTimeMs + ledger.transactions.length
  ledger.transactions.push({
    hash: depositIdOf(depositor),
    user: ownerlessAddress(depositor),
    timeMs,
    action: {
      type: 'UsdSend',
      hyperliquidChain: 'Mainnet',
      destination,
      amount: decimalOf(units),
      time: BigInt(timeMs),
    },
  })
}

/** An amount of smallest units as the exchange writes it: a decimal number of USDC. */
function decimalOf(amount: bigint): string {
  const scale = 10n ** BigInt(familyPlans.hyperliquid.decimals)
  const fraction = (amount % scale).toString().padStart(familyPlans.hyperliquid.decimals, '0')
  return `${amount / scale}.${fraction}`
}
