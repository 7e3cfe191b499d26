import { formatAmount } from '@causeway/core'
import type { Command } from './command.ts'
import { readWallet } from './readValue.ts'

const usdcDecimals = 6

export const balanceCommands: readonly Command[] = [
  {
    words: 'balance show',
    about: 'Show what a sponsorship wallet has, holds and is about to get',
    operands: ['wallet'],
    flags: {},
    async run({ administration }, args) {
      const wallet = readWallet(args.operand('wallet'), '<wallet>')
      const { availableMicroUsd, heldMicroUsd, pendingMicroUsd } = await administration.ledger.balance(wallet)
      const usdc = (microUsd: bigint) => `${formatAmount(microUsd, usdcDecimals)} USDC`
      return {
        data: { wallet, availableMicroUsd, heldMicroUsd, pendingMicroUsd },
        lines: [
          `available: ${usdc(availableMicroUsd)}`,
          `held:      ${usdc(heldMicroUsd)} for open quotes`,
          `pending:   ${usdc(pendingMicroUsd)} seen on chain, not final`,
        ],
      }
    },
  },
]
