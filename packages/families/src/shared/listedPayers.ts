import { ConfigurationError } from '@causeway/core'
import type { VmCodec } from '@causeway/core/encodings'

/** Payers for solvers on a chain beside the senders of transactions, spelled as in facts. */
export type ListedPayers = {
  readonly fillContracts: ReadonlySet<string>
  readonly fillPayers: ReadonlySet<string>
  /** Never payers. */
  readonly depositories: ReadonlySet<string>
}

export type ListedChain = {
  readonly id: string
  readonly depository?: string | undefined
  readonly additionalDepositories?: readonly string[] | undefined
  readonly fillContracts?: readonly string[] | undefined
  readonly fillPayers?: readonly string[] | undefined
}

/**
 * @param spell how the chain's facts spell a canonical account
 * @throws ConfigurationError for a payer that can be none, InvalidAddressError for a depository that is none
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

/** An account of the family that is no depository and not the name of the native currency. */
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
