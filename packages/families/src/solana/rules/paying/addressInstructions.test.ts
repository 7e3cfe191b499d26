// Goal: the program of deposit addresses finds its accounts and data where it reads them, since it reads both by place.
// Method: each instruction for SOL and for a token, compared with the table of the program's own source.

import type { Hex } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { associatedTokenAccount, deriveProgramAddresses } from '../programAddresses.ts'
import { associatedTokenProgram, systemProgram, tokenProgram } from '../programs.ts'
import type { SolanaInstruction } from '../quoting/instructions.ts'
import { closeAddressAccount, sweepAddress, withdrawAddress } from './addressInstructions.ts'

const program = '7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ'
const depositoryProgram = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const addresses = deriveProgramAddresses(depositoryProgram)
const addressProgram = { program, depository: { program: depositoryProgram, addresses } }
const sweeper = 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9'
const depositor = 'CbKGgVKLJFb8bBrf58DnAkdryX6ubewVytn7X957YwNr'
const address = '4nvJ5zWdVspxJiNZzB127U6amPH98SFFkBx2JZrAduia'
const token = { mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', tokenProgram }
const word = (byte: string): Hex => `0x${byte.repeat(32)}`
const orderSigner: Hex = `0x${'0a'.repeat(20)}`
const swept = { address, terms: { orderSigner, sweeper, depositor, nonce: word('0b') } }
const order = {
  version: word('01'),
  solverChainId: word('02'),
  solver: word('03'),
  salt: word('04'),
  inputs: word('05'),
  output: word('06'),
  fees: word('07'),
}
const orderSignature: Hex = `0x${'08'.repeat(65)}`
const head = (action: string) => `${action}${'0a'.repeat(20)}${'0b'.repeat(32)}`

const shown = ({ program: called, accounts, data }: SolanaInstruction) => ({
  called,
  data: data.toString('hex'),
  accounts: accounts.map(([account, role]) => `${account} ${role}`),
})
const ofToken = [
  `${token.mint} read`,
  `${associatedTokenAccount(address, token)} written`,
  `${addresses.vaultTokenAccount(token)} written`,
  `${tokenProgram} read`,
  `${associatedTokenProgram} read`,
]

describe('a sweep', () => {
  const words = ['01', '02', '03', '04', '05', '06', '07'].map((byte) => byte.repeat(32)).join('')

  test.each([
    ['SOL writes the vault', undefined, 'written', []],
    ['a token writes its two accounts, and the vault signs for none', token, 'read', ofToken],
  ] as const)('of %s', (_what, swapped, vaultRole, more) => {
    expect(shown(sweepAddress(addressProgram, swept, { order, orderSignature, token: swapped }))).toEqual({
      called: program,
      data: `${head('01')}${words}${'08'.repeat(65)}`,
      accounts: [
        `${sweeper} signs`,
        `${address} written`,
        `${depositor} read`,
        `${depositoryProgram} read`,
        `${addresses.state} read`,
        `${addresses.vault} ${vaultRole}`,
        `${systemProgram} read`,
        ...more,
      ],
    })
  })
})

describe('what is withdrawn', () => {
  test.each([
    ['SOL goes from account to account', undefined, 'written', []],
    [
      'tokens go from one\u2019s token account to the other\u2019s',
      token,
      'read',
      [
        `${token.mint} read`,
        `${associatedTokenAccount(address, token)} written`,
        `${associatedTokenAccount(depositor, token)} written`,
        `${tokenProgram} read`,
      ],
    ],
  ] as const)('%s', (_what, withdrawn, role, more) => {
    expect(shown(withdrawAddress(addressProgram, swept, { caller: depositor, token: withdrawn }))).toEqual({
      called: program,
      data: head('02'),
      accounts: [
        `${depositor} signs`,
        `${address} ${role}`,
        `${depositor} ${role}`,
        `${sweeper} read`,
        `${depositoryProgram} read`,
        `${systemProgram} read`,
        ...more,
      ],
    })
  })
})

test('a token account that is closed gives its rent to the depositor, whoever asks', () => {
  expect(shown(closeAddressAccount(addressProgram, swept, { caller: sweeper, token }))).toEqual({
    called: program,
    data: head('03'),
    accounts: [
      `${sweeper} signs`,
      `${address} read`,
      `${depositor} written`,
      `${sweeper} read`,
      `${depositoryProgram} read`,
      `${associatedTokenAccount(address, token)} written`,
      `${tokenProgram} read`,
    ],
  })
})
