import type { Hex } from '@causeway/core'
import type { ListedPayers } from '../config/listedPayers.ts'

/** Who pays for one order: the contract that its extra data chooses, when it is listed. */
export type SolverSide = ListedPayers & { readonly chosen: string | undefined }

/** Extra data only chooses among the listed contracts. */
export function sideOf(listed: ListedPayers, extraData: Hex): SolverSide {
  const named = fillContractOf(extraData)
  return { ...listed, chosen: named !== undefined && listed.fillContracts.has(named) ? named : undefined }
}

/** The fill contract that extra data names; `undefined` when it names none. @source oracle-protocol.md 1.5 */
function fillContractOf(extraData: Hex): Hex | undefined {
  const digits = extraData.slice(2).toLowerCase()
  return digits.length === 64 && digits.startsWith('0'.repeat(24)) ? `0x${digits.slice(24)}` : undefined
}

/**
 * Who pays in one transaction: its sender, listed payers where one of them sent it, and the chosen fill contract where
 * the transaction calls it or a listed payer. Called by any other contract, that contract's user paid it and not the
 * sender: everybody may submit what some wallets signed, and put an order id behind it.
 */
export function payersOf(
  { chosen, fillPayers, depositories }: SolverSide,
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
): { readonly isPayer: (account: string) => boolean; readonly fillContract: string | undefined } {
  const isCalled = to !== undefined && (to === chosen || fillPayers.has(to))
  const fillContract = isCalled ? chosen : undefined
  const isListed = from !== undefined && fillPayers.has(from)
  return {
    fillContract,
    isPayer: (account) =>
      !depositories.has(account) &&
      (account === from || account === fillContract || (isListed && fillPayers.has(account))),
  }
}
