import type { Hex } from '../../../hex.ts'
import type {
  ChainSettings,
  DepositAddressContract,
  DepositAddressing,
  QuotingFamily,
} from '../../quotingFamily.ts'
import { depositAddressOf } from '../depositAddress.ts'
import { addressSwapOf, encodeAddressSwap, encodeTransaction } from './encodeTransaction.ts'
import { planTransactions, spenderOf } from './planTransactions.ts'
import { touchedHoldings } from './stateWrites.ts'

/** The family whose contracts take permits, calls and deposits at addresses of their own. @source quote-api.md 2 */
export const ethereumQuoting: QuotingFamily = {
  feeModel: 'gas',
  bind: (settings) => ({
    isNobody: (address) => address.toLowerCase() === settings.codec.nativeCurrency,
    canSign: () => true,
    amountMax: () => 2n ** 256n - 1n,
    runsCalls: true,
    paysTokensToCode: true,
    depositAddresses: settings.depositAddresses && addressesBy(settings.depositAddresses, settings),
    tellsCallsApart: true,
    namesSolvers: true,
    hexAddress: (address) => hexAddress(settings, address),
    spenderOf: (kind, currency) => spenderOf(settings, kind, currency),
    touched: (route) => touchedHoldings(settings, route),
    plan: (route, known) => planTransactions(settings, route, known),
    encode: (planned, route, bound) => encodeTransaction(settings, planned, route, bound),
    addressSwap: (route) => addressSwapOf(settings, route),
    encodeAddressSwap: (swap, spent) => encodeAddressSwap(settings, swap, spent),
  }),
}

const hexAddress = ({ codec }: Pick<ChainSettings, 'codec'>, address: string): Hex =>
  `0x${codec.canonicalAddress(address).slice(2)}`

function addressesBy(contract: DepositAddressContract, settings: ChainSettings): DepositAddressing {
  return {
    make({ orderSigner, fillWallet, depositor, nonce }) {
      const terms = {
        orderSigner: hexAddress(settings, orderSigner),
        sweeper: hexAddress(settings, fillWallet),
        depositor: hexAddress(settings, depositor),
        nonce,
      }
      return { address: depositAddressOf(terms, contract), terms }
    },
    nameOf: (address) => hexAddress(settings, address),
    sweepSeconds: 300,
    leadSeconds: 120,
    // Its depositor may withdraw it at any time.
    isKeptWhileSwept: false,
  }
}
