// Which of all invocations this is, where work-groups were spread over x and y (spread_groups).
uint invocation_index() {
  return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
         gl_LocalInvocationID.x;
}
