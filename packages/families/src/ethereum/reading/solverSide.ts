import { fillContractOf, type Hex } from '@causeway/core'
import type { ListedPayers } from '../../shared/listedPayers.ts'

/** Accounts that may pay one order: the listed payers, and the fill contract that the order's extra data chooses. */
export type SolverSide = ListedPayers & {
  /** The fill contract that the extra data names, if it is listed. */
  readonly chosen: string | undefined
  /** The fill contract that the extra data names, if it is not listed and is neither zero nor a depository. */
  readonly unlisted: Hex | undefined
}

/** The solver's side of an order. Extra data can choose only among listed contracts. */
export function solverSideOf(listed: ListedPayers, extraData: Hex): SolverSide {
  const fillContract = fillContractOf(extraData)
  const isListed = fillContract !== undefined && listed.fillContracts.has(fillContract)
  const couldBeListed =
    fillContract !== undefined && BigInt(fillContract) !== 0n && !listed.depositories.has(fillContract)
  return {
    ...listed,
    chosen: isListed ? fillContract : undefined,
    unlisted: couldBeListed && !isListed ? fillContract : undefined,
  }
}

/**
 * Accounts whose money counts as the solver's in one transaction:
 * - its sender,
 * - all listed payers, if one of them sent it,
 * - the chosen fill contract, if the transaction calls it or a listed payer.
 *
 * The fill contract does not count if another contract calls it, e.g. a relayer that submits payments which other
 * wallets signed and appends an order id: that money is not the solver's.
 */
export function solverAccountsOf(
  { chosen, fillPayers, depositories }: SolverSide,
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
): { readonly isPayer: (account: string) => boolean; readonly fillContract: string | undefined } {
  const fillContract = ifRun(chosen, { fillPayers, to })
  const isListed = from !== undefined && fillPayers.has(from)
  return {
    fillContract,
    isPayer: (account) =>
      !depositories.has(account) &&
      (account === from || account === fillContract || (isListed && fillPayers.has(account))),
  }
}

/** The fill contract that the order names and the transaction ran, if it is not listed: its payments do not count. */
export function unlistedFillContract(
  { unlisted, fillPayers }: SolverSide,
  { to }: { readonly to: string | undefined },
): Hex | undefined {
  return ifRun(unlisted, { fillPayers, to })
}

/** `contract` if the transaction calls it or a listed payer, else undefined. */
function ifRun<Contract extends string>(
  contract: Contract | undefined,
  { fillPayers, to }: Pick<ListedPayers, 'fillPayers'> & { readonly to: string | undefined },
): Contract | undefined {
  return to !== undefined && (to === contract || fillPayers.has(to)) ? contract : undefined
}
