import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { readAbi, readStringResult } from './abiReader.ts'

const errorSelector = '0x08c379a0' // Error(string)
const panicSelector = '0x4e487b71' // Panic(uint256)
const longest = 200

/**
 * Words for what a call reverted with. The text is the contract's, so it is cut and stripped of all but
 * printable characters; an error without a known shape is named by its selector.
 * @source Solidity ABI, "Revert"
 */
export function revertReason(data: unknown): string {
  const fallback = 'it reverts'
  if (typeof data !== 'string' || !/^0x(?:[0-9a-fA-F]{2}){4,}$/.test(data)) return fallback
  const selector = data.slice(0, 10).toLowerCase()
  const rest = `0x${data.slice(10).toLowerCase()}` as const
  try {
    if (selector === errorSelector) return printable(readStringResult(rest, 'Error')) || fallback
    if (selector === panicSelector) return `panic 0x${readAbi(rest, 'Panic').uint(0).toString(16)}`
  } catch (error) {
    if (!(error instanceof MalformedAnswerError)) throw error
  }
  return `it reverts with ${selector}`
}

function printable(text: string): string {
  return text
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, longest)
}
