import type { ChainQuoting, QuotingFamily } from '../../../rules/quotingFamily.ts'
import { contractAddressing, ethereumHex } from '../depositAddress.ts'
import { burntAccounts, reservedAccount } from '../reservedAccounts.ts'
import { addressSwapOf, encodeAddressSwap, encodeTransaction, ethereumStepData } from './encodeTransaction.ts'
import { planTransactions, spenderOf } from './planTransactions.ts'
import { touchedHoldings } from './stateWrites.ts'

/** Rules by which quotes are made on EVM chains; see `QuotingFamily` and `ChainQuoting` for the members. */
export const ethereumQuoting = {
  feeModel: 'gas',
  addressSetting: 'depositAddresses',
  reserved: reservedAccount,
  burnt: burntAccounts,
  accountOfHex: (hex) => hex,
  stepData: ethereumStepData,
  bind: (settings): ChainQuoting => ({
    isNobody: (address) => address.toLowerCase() === settings.codec.nativeCurrency,
    canSign: () => true,
    amountMax: () => 2n ** 256n - 1n,
    runsCalls: true,
    paysTokensToCode: true,
    depositAddresses:
      settings.depositAddresses && contractAddressing(settings.depositAddresses, settings.codec),
    tellsCallsApart: true,
    namesSolvers: true,
    hexAddress: (address) => ethereumHex(settings.codec, address),
    spenderOf: (kind, currency) => spenderOf(settings, kind, currency),
    touched: (route) => touchedHoldings(settings, route),
    plan: (route, state) => planTransactions(settings, route, state),
    encode: (planned, route, context) => encodeTransaction(settings, planned, route, context),
    addressSwap: (route) => addressSwapOf(settings, route),
    encodeAddressSwap: (swap, spent) => encodeAddressSwap(settings, swap, spent),
  }),
} satisfies QuotingFamily
