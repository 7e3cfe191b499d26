/** Group commit for reads: one request to a node serves many questions. @source F-87 */
export type QuestionGroups<Question> = {
  /** Questions that wait for a group; those in flight are not counted. */
  waiting(): number
  add(question: Question): void
}

export type QuestionGroupsOptions<Question> = {
  /** Groups that may be out at once; while so many are, further questions gather. */
  readonly inFlightMax: number
  /** Delays the first group, so that questions of one moment leave in it together. */
  readonly defer: (leave: () => void) => void
  /** True for a question that a caller still waits for; other questions are not sent. Default: all are. */
  readonly isWanted?: (question: Question) => boolean
  /** Questions that may still be asked once their group failed. Default: the wanted ones. */
  readonly mayAskAgain?: (question: Question) => boolean
  /** As many of the first ones as one request holds. */
  readonly firstOf: (waiting: readonly Question[]) => readonly Question[]
  /** Answers every question of the group; where it rejects, the halves are asked: one name costs nobody else his answer. */
  readonly send: (group: readonly Question[]) => Promise<void>
  /** One that failed alone, or may not be asked again. */
  readonly fail: (question: Question, error: unknown) => void
}

export function createQuestionGroups<Question>(
  options: QuestionGroupsOptions<Question>,
): QuestionGroups<Question> {
  const { inFlightMax, defer, isWanted = () => true, firstOf, send, fail } = options
  const { mayAskAgain = isWanted } = options
  let waiting: Question[] = []
  let inFlight = 0
  let isGathering = false

  const ask = async (group: readonly Question[]): Promise<void> => {
    try {
      await send(group)
    } catch (error) {
      const again = group.length > 1 ? group.filter(mayAskAgain) : []
      for (const question of group) if (!again.includes(question)) fail(question, error)
      await Promise.all(halves(again).map(ask))
    }
  }

  const leave = (): void => {
    isGathering = false
    while (inFlight < inFlightMax) {
      waiting = waiting.filter(isWanted)
      const group = firstOf(waiting)
      if (group.length === 0) return
      waiting = waiting.slice(group.length)
      inFlight += 1
      void ask(group).finally(() => {
        inFlight -= 1
        leave()
      })
    }
  }
  return {
    waiting: () => waiting.length,
    add(question) {
      waiting.push(question)
      if (isGathering) return
      isGathering = true
      defer(leave)
    },
  }
}

/** Two of several, one of one, none of none. */
export function halves<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)].filter(({ length }) => length > 0)
}
