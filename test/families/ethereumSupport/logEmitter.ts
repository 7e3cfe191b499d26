import type { Hex } from '@causeway/core'

/**
 * Runtime code that emits the log its calldata names: one byte with the number of topics (1, 3 or 4), four
 * words of topics, then the data. For events that no honest contract emits.
 */
export const logEmitterCode: Hex = assemble()

export function emit(log: { readonly topics: readonly Hex[]; readonly data?: Hex }): Hex {
  const words = [0, 1, 2, 3].map((index) => (log.topics[index] ?? '0x').slice(2).padEnd(64, '0'))
  return `0x0${log.topics.length}${words.join('')}${(log.data ?? '0x').slice(2)}`
}

export function word(value: bigint | Hex): string {
  return (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
}

function assemble(): Hex {
  // size = calldatasize - 129; copy the data to memory 0; n = first byte. Stack: size, n
  const head = '608136038060816000376000' + '3560f81c'
  const branch = (count: number, target: number) => `80${push(count)}14${push(target)}57`
  const tail = (count: number) => {
    const topics = Array.from(
      { length: count },
      (_, index) => `${push(1 + 32 * (count - 1 - index))}35`,
    ).join('')
    // Below the topics lies size: duplicate it, then the memory offset 0.
    return `5b50${topics}${(0x80 + count).toString(16)}6000${(0xa0 + count).toString(16)}00`
  }
  const bodies = [tail(4), tail(1), tail(3)]
  const branchesBytes = 2 * (branch(1, 0).length / 2)
  const start4 = head.length / 2 + branchesBytes
  const start1 = start4 + (bodies[0]?.length ?? 0) / 2
  const start3 = start1 + (bodies[1]?.length ?? 0) / 2
  return `0x${head}${branch(1, start1)}${branch(3, start3)}${bodies.join('')}`
}

function push(value: number): string {
  return `60${value.toString(16).padStart(2, '0')}`
}
