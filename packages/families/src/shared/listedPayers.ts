import { ConfigurationError } from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'

/** Accounts of a chain that may pay for solvers, beside the senders of transactions; spelled as in the chain's facts. */
export type ListedPayers = {
  readonly fillContracts: ReadonlySet<string>
  readonly fillPayers: ReadonlySet<string>
  /** Accounts that never count as payers. */
  readonly depositories: ReadonlySet<string>
}

/** A chain's settings that name payers and depositories. */
export type ListedChain = {
  readonly id: string
  readonly depository?: string | undefined
  readonly additionalDepositories?: readonly string[] | undefined
  readonly fillContracts?: readonly string[] | undefined
  readonly fillPayers?: readonly string[] | undefined
}

/**
 * The listed payers of a configured chain.
 * @param spell converts a canonical account to the spelling of the chain's facts
 * @throws ConfigurationError for an account that cannot pay; whatever `spell` throws for a malformed depository
 */
export function listedPayers(
  chain: ListedChain,
  codec: VmCodec,
  spell: (account: string) => string = (account) => account,
): ListedPayers {
  const listed = (setting: 'fillContracts' | 'fillPayers') =>
    new Set(
      (chain[setting] ?? []).map((account) => {
        if (canPay(account, chain, codec)) return spell(codec.canonicalAddress(account))
        throw new ConfigurationError(`chains: ${chain.id}.${setting} holds an account that can pay no fill`)
      }),
    )
  return {
    depositories: new Set(depositoriesOf(chain, codec).map(spell)),
    fillContracts: listed('fillContracts'),
    fillPayers: listed('fillPayers'),
  }
}

/** True if an account may be listed as a payer: an address of the family, but no depository or native currency. */
export function canPay(account: string, chain: ListedChain, codec: VmCodec): boolean {
  if (!codec.isAddress(account)) return false
  const canonical = codec.canonicalAddress(account)
  return canonical !== codec.nativeCurrency && !depositoriesOf(chain, codec).includes(canonical)
}

function depositoriesOf(
  { depository, additionalDepositories }: ListedChain,
  codec: VmCodec,
): readonly string[] {
  return [depository ?? [], additionalDepositories ?? []].flat().map((account) => codec.spellAddress(account))
}
