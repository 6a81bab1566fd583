# Read by every package where ROS comes from wheels (-DCMAKE_PROJECT_INCLUDE=this file), never on a ROS install.
#
# Two things are put right whenever a package has been found:
# - The wheels' *__rosidl_generator_py targets name the Python include folder of the machine that built them
#   (/opt/python/cp3xx-cp3xx/include/...). CMake refuses an include folder that does not exist; the right one is known
#   from FindPython3 anyway.
# - No C++ is generated for interfaces: the wheels carry no C++ client, and the build takes half the time without.
macro(find_package package)
  _find_package(${package} ${ARGN})
  list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "^rosidl_[a-z_]*cpp:")
  if(TARGET ${package}::${package}__rosidl_generator_py)
    get_target_property(_include_folders ${package}::${package}__rosidl_generator_py INTERFACE_INCLUDE_DIRECTORIES)
    if(_include_folders)
      list(FILTER _include_folders EXCLUDE REGEX "^/opt/python/")
      set_target_properties(
        ${package}::${package}__rosidl_generator_py PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_include_folders}"
      )
    endif()
  endif()
endmacro()
