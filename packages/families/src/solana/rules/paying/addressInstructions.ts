import { concatBytes, fixedHexToBytes } from '@causeway/core'
import type { DepositAddressTerms } from '../../../rules/depositAddressing.ts'
import type { SignedOrderWords } from '../../../rules/signedOrderWords.ts'
import type { SolanaAddressProgram } from '../depositAddress.ts'
import { associatedTokenAccount, type SolanaToken } from '../programAddresses.ts'
import { associatedTokenProgram, systemProgram } from '../programs.ts'
import type { SolanaInstruction } from '../quoting/instructions.ts'

/**
 * First data byte of the program's instructions, by action. The program reads accounts and data by position,
 * so their order below is its own. @source depositAddresses.c
 */
const actions = { sweep: 1, withdraw: 2, close: 3 } as const

/** A deposit address, and the terms that it is derived from. */
type AddressWithTerms = { readonly address: string; readonly terms: DepositAddressTerms }

/**
 * Instruction that deposits all SOL of the address, or all that it has of a token, for an order. The sweeper signs.
 * @param token undefined for SOL
 */
export function sweepAddress(
  { program, depository }: SolanaAddressProgram,
  { address, terms }: AddressWithTerms,
  { order, orderSignature, token }: SignedOrderWords & { readonly token: SolanaToken | undefined },
): SolanaInstruction {
  const { state, vault, vaultTokenAccount } = depository.addresses
  const { version, solverChainId, solver, salt, inputs, output, fees } = order
  const words = [version, solverChainId, solver, salt, inputs, output, fees]
  return {
    program,
    data: Buffer.from(
      concatBytes([
        instructionHead('sweep', terms),
        ...words.map((word) => fixedHexToBytes(word, 32)),
        fixedHexToBytes(orderSignature, 65),
      ]),
    ),
    accounts: [
      [terms.sweeper, 'signs'],
      [address, 'written'],
      [terms.depositor, 'read'],
      [depository.program, 'read'],
      [state, 'read'],
      [vault, token === undefined ? 'written' : 'read'],
      [systemProgram, 'read'],
      ...(token === undefined
        ? []
        : ([
            [token.mint, 'read'],
            [associatedTokenAccount(address, token), 'written'],
            [vaultTokenAccount(token), 'written'],
            [token.tokenProgram, 'read'],
            [associatedTokenProgram, 'read'],
          ] as const)),
    ],
  }
}

/**
 * Instruction that pays all SOL of the address, or all that it has of a token, to the depositor, whose token account
 * must exist. The caller signs: the depositor or the sweeper.
 * @param token undefined for SOL
 */
export function withdrawAddress(
  { program, depository }: SolanaAddressProgram,
  { address, terms }: AddressWithTerms,
  { caller, token }: { readonly caller: string; readonly token: SolanaToken | undefined },
): SolanaInstruction {
  return {
    program,
    data: Buffer.from(instructionHead('withdraw', terms)),
    accounts: [
      [caller, 'signs'],
      [address, token === undefined ? 'written' : 'read'],
      [terms.depositor, token === undefined ? 'written' : 'read'],
      [terms.sweeper, 'read'],
      [depository.program, 'read'],
      [systemProgram, 'read'],
      ...(token === undefined
        ? []
        : ([
            [token.mint, 'read'],
            [associatedTokenAccount(address, token), 'written'],
            [associatedTokenAccount(terms.depositor, token), 'written'],
            [token.tokenProgram, 'read'],
          ] as const)),
    ],
  }
}

/**
 * Instruction that closes the address's token account; its lamports go to the depositor. The token program refuses
 * accounts with a balance, except of wrapped SOL, whose balance then goes to the depositor. The caller signs:
 * the depositor or the sweeper.
 */
export function closeAddressAccount(
  { program, depository }: SolanaAddressProgram,
  { address, terms }: AddressWithTerms,
  { caller, token }: { readonly caller: string; readonly token: SolanaToken },
): SolanaInstruction {
  return {
    program,
    data: Buffer.from(instructionHead('close', terms)),
    accounts: [
      [caller, 'signs'],
      [address, 'read'],
      [terms.depositor, 'written'],
      [terms.sweeper, 'read'],
      [depository.program, 'read'],
      [associatedTokenAccount(address, token), 'written'],
      [token.tokenProgram, 'read'],
    ],
  }
}

/** First bytes of the data: action, order signer and nonce. The other terms are named by accounts. */
const instructionHead = (
  action: keyof typeof actions,
  { orderSigner, nonce }: DepositAddressTerms,
): Uint8Array =>
  concatBytes([Uint8Array.of(actions[action]), fixedHexToBytes(orderSigner, 20), fixedHexToBytes(nonce, 32)])
