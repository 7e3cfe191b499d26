import { UpstreamDisagreementError } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import type { ChainClient, EndpointView, QuorumClient } from '@causeway/rpc'
import { agreeOn, createLruCache } from '@causeway/rpc'
import type { AddressedCurrency, AddressReading } from '../../shared/settlingChain.ts'
import { type AccountGroups, accountsMax, createAccountGroups } from '../quoting/accountGroups.ts'
import { tokenAmountOf } from '../quoting/tokenMint.ts'
import type { ShownAccount } from '../reading/answers.ts'
import { associatedTokenAccount } from '../rules/programAddresses.ts'
import { tokenProgram } from '../rules/programs.ts'
import { type PayerWalk, type WalkProgress, walkOn, walkStart } from './payerWalk.ts'

const readTimeoutMs = 5_000
/** Limit of accounts whose reading position is remembered; others are read from the start again. */
const walksMax = 1_000

/**
 * Reads what deposit addresses hold, by their balances at the newest final slot, and who paid it. Blocks, which have
 * megabytes, are not scanned. The depth of a payment does not matter: the sweep's deposit is on the same fork.
 * @param options.depository address of its program
 */
export function createAddressReading(options: {
  readonly client: ChainClient
  readonly quorum: QuorumClient<EndpointView>
  readonly depository: string
}): AddressReading {
  const { client, quorum, depository } = options
  const groups = createAccountGroups(client)
  const walks = createLruCache<PayerWalk>(walksMax)

  /** Continues reading an account's payers where its last look ended; an unreadable look moves nothing. */
  async function continueWalk(
    account: string,
    question: { readonly currency: string; readonly height: bigint },
    signal: AbortSignal,
  ): Promise<WalkProgress> {
    const position = walks.get(account) ?? walkStart
    const accountQuestion = { account, ...question, depository }
    const progress = await agreeOn<WalkProgress, EndpointView>(
      quorum,
      (view, viewSignal) => walkOn(view, accountQuestion, position, viewSignal),
      signal,
    )
    if (progress.outcome === 'unreadable') return progress
    const { outcome: _, ...nextPosition } = progress
    walks.set(account, nextPosition)
    return progress
  }

  return {
    needsFinal: false,
    held: (addresses, { currencies }) => heldAt(groups, addresses, currencies),
    // Walks the accounts of all currencies that the address holds now; an unreadable one makes all unknown.
    async payers(address, { currencies, height }, signal) {
      const [held = new Map<string, bigint>()] = await heldAt(groups, [address], currencies)
      const payers = new Set<string>()
      let isAllRead = true
      for (const currency of currencies) {
        if (!held.has(currency.address)) continue
        const progress = await continueWalk(
          accountOf(address, currency),
          { currency: currency.address, height },
          signal,
        )
        if (progress.outcome === 'unreadable') return undefined
        if (progress.outcome === 'more') isAllRead = false
        for (const payer of progress.payers) payers.add(payer)
      }
      // An address that pays out, as in a sweep, is itself among the accounts that had less afterwards.
      payers.delete(address)
      return isAllRead ? [...payers].sort() : 'reading'
    },
    async transfer(address, { currency, height }, signal) {
      const question = { currency: currency.address, height }
      const { outcome, largest } = await continueWalk(accountOf(address, currency), question, signal)
      return outcome === 'known' ? largest : undefined
    },
  }
}

/**
 * Balances of each address. Each is agreed on by itself, so that one whose balance changes with every slot delays no
 * other. An address without agreement counts as empty for now. More currencies than one request takes are read in parts.
 */
async function heldAt(
  groups: AccountGroups,
  addresses: readonly string[],
  currencies: readonly AddressedCurrency[],
): Promise<readonly ReadonlyMap<string, bigint>[]> {
  const limits = { timeoutMs: readTimeoutMs }
  const readPart = async (address: string, part: readonly AddressedCurrency[]) => {
    const accounts = part.map((currency) => accountOf(address, currency))
    try {
      const amounts = await groups.agreed(accounts, (shownAccounts) => amountsOf(shownAccounts, part), limits)
      return part.flatMap((currency, index): (readonly [string, bigint])[] => {
        const amount = amounts[index] ?? 0n
        return amount === 0n ? [] : [[currency.address, amount]]
      })
    } catch (error) {
      if (error instanceof UpstreamDisagreementError) return []
      throw error
    }
  }
  const starts = Array.from(
    { length: Math.ceil(currencies.length / accountsMax) },
    (_, at) => at * accountsMax,
  )
  const parts = starts.map((start) => currencies.slice(start, start + accountsMax))
  return Promise.all(
    addresses.map(
      async (address) => new Map((await Promise.all(parts.map((part) => readPart(address, part)))).flat()),
    ),
  )
}

/** The account that holds a currency for an owner: the owner's own for SOL, else the associated token account. */
const accountOf = (owner: string, { address, tokenProgram: program = tokenProgram }: AddressedCurrency) =>
  isCoin(address) ? owner : associatedTokenAccount(owner, { mint: address, tokenProgram: program })

const isCoin = (currency: string): boolean => currency === solanaCodec.nativeCurrency

function amountsOf(
  shownAccounts: readonly (ShownAccount | undefined)[],
  currencies: readonly AddressedCurrency[],
): readonly bigint[] {
  return currencies.map(({ address }, index) =>
    isCoin(address) ? (shownAccounts[index]?.lamports ?? 0n) : tokenAmountOf(shownAccounts[index]),
  )
}
