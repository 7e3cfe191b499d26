import { fillContractOf, type Hex } from '@causeway/core'
import type { ListedPayers } from '../../shared/listedPayers.ts'

/** Payers of one order: the contract that its extra data chooses, if it is listed. */
export type SolverSide = ListedPayers & {
  readonly chosen: string | undefined
  /** The contract that its extra data names, where it is not listed and could be. */
  readonly unlisted: Hex | undefined
}

/** Extra data only chooses among the listed contracts. */
export function sideOf(listed: ListedPayers, extraData: Hex): SolverSide {
  const fillContract = fillContractOf(extraData)
  const isListed = fillContract !== undefined && listed.fillContracts.has(fillContract)
  const canBeListed =
    fillContract !== undefined && BigInt(fillContract) !== 0n && !listed.depositories.has(fillContract)
  return {
    ...listed,
    chosen: isListed ? fillContract : undefined,
    unlisted: canBeListed && !isListed ? fillContract : undefined,
  }
}

/**
 * Accounts that pay in one transaction: its sender, listed payers where one of them sent it, and the chosen fill
 * contract where the transaction calls it or a listed payer. Called by any other contract, that contract's user paid it
 * and not the sender: everybody may submit what some wallets signed, and put an order id behind it.
 */
export function payersOf(
  { chosen, fillPayers, depositories }: SolverSide,
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
): { readonly isPayer: (account: string) => boolean; readonly fillContract: string | undefined } {
  const fillContract = ran(chosen, { fillPayers, to })
  const isListed = from !== undefined && fillPayers.has(from)
  return {
    fillContract,
    isPayer: (account) =>
      !depositories.has(account) &&
      (account === from || account === fillContract || (isListed && fillPayers.has(account))),
  }
}

/** The contract that the order names, where the transaction ran it and no list holds it: nothing of it counts. */
export function unlistedFillContract(
  { unlisted, fillPayers }: SolverSide,
  { to }: { readonly to: string | undefined },
): Hex | undefined {
  return ran(unlisted, { fillPayers, to })
}

/** `contract` where the transaction calls it or a listed payer. */
function ran<Contract extends string>(
  contract: Contract | undefined,
  { fillPayers, to }: Pick<ListedPayers, 'fillPayers'> & { readonly to: string | undefined },
): Contract | undefined {
  return to !== undefined && (to === contract || fillPayers.has(to)) ? contract : undefined
}
